//! The program: read the command line, do what it says, turn the result into an exit code.

use std::{env, process::ExitCode};

use homebody::config::{Cli, NoCommand};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "here a person is spoken to, not a log")]
fn main() -> ExitCode {
    let command = match Cli::read(env::args_os()) {
        Ok(command) => command,
        Err(NoCommand::Print(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(NoCommand::Usage(line)) => {
            eprintln!("homebody: {line}");
            return ExitCode::from(2);
        }
    };
    match command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("homebody: {failure}");
            failure.exit_code()
        }
    }
}
