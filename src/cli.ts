#!/usr/bin/env node
// The command line of the App's package. Only what a command needs is loaded: `validate` starts in milliseconds.
import { addAppCommands } from './cli/commands/app-commands.ts'
import { runProgram } from './cli/program.ts'

runProgram(addAppCommands)
