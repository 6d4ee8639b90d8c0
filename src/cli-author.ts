#!/usr/bin/env node
// The command line of the package for authors, without what serves: scripts/build-author-package.ts makes it.
import { addAppCommandStubs } from './cli/commands/app-command-stubs.ts'
import { runProgram } from './cli/program.ts'

runProgram(addAppCommandStubs)
