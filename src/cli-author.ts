#!/usr/bin/env node
// The command line of the package for authors, without the App. scripts/build-author-package.ts builds the package.
import { addHiddenAppCommandStubs } from './cli/commands/app-command-stubs.ts'
import { runProgram } from './cli/program.ts'

runProgram(addHiddenAppCommandStubs)
