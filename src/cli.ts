#!/usr/bin/env node
// The command line of the App's package. Only what a command needs is loaded: `validate` starts in milliseconds.
import { runProgram } from './cli/program.ts'

runProgram('app')
