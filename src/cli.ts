#!/usr/bin/env node
// The command line of the App's package. Each command loads only the code that it needs, so `validate` starts in milliseconds.
import { addAppCommands } from './cli/commands/app-commands.ts'
import { runProgram } from './cli/program.ts'

runProgram(addAppCommands)
