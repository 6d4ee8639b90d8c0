#!/usr/bin/env node
// What `catalog-bot` runs: the built command line in a published package, the sources in a checkout. CommonJS,
// since starting Node's other loader takes as long as reading a megabyte of a catalog.
'use strict'
const fs = require('node:fs')
const { enableCompileCache } = require('node:module')
const { homedir } = require('node:os')
const { isAbsolute, join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { setFlagsFromString } = require('node:v8')
const { Script } = require('node:vm')

const day = 24 * 60 * 60 * 1000

/** The same as `engines` in package.json: the first Node whose long-term line runs TypeScript without a flag. */
const oldestNode = [22, 20]

if (isTooOld(process.versions.node)) runUnderNewerNode()
else run()

function run() {
  // A checkout may hold what was built of it long ago: there the sources count.
  const checkedOut = join(__dirname, '../src/cli.ts')
  if (fs.existsSync(checkedOut)) void importKept(checkedOut)
  else runJoined(join(__dirname, '../dist/cli.joined.js'))
}

function isTooOld(version) {
  const [major, minor] = version.split('.').map(Number)
  return major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])
}

/** Under the Node that was installed beside this package, as `npm ci` does in a checkout; else says how to get one. */
function runUnderNewerNode() {
  const newer = installedNode()
  if (newer === undefined) {
    console.error(
      `catalog-bot needs Node.js ${oldestNode.join('.')} or newer, and this is Node.js ${process.versions.node}.\n` +
        (fs.existsSync(join(__dirname, '../src/cli.ts'))
          ? 'Run "npm ci" in this checkout: it brings Node.js 24 for the project alone.'
          : 'Install a newer one from https://nodejs.org, or let npm bring one for this command alone:\n' +
            '  npx --package node@24 --package @catalog-bot/cli -- catalog-bot ...'),
    )
    process.exit(2)
  }
  // Loaded only here: every other start would pay for it.
  const { spawn } = require('node:child_process')
  // Before the other one starts, or a signal in that moment would end this one alone. A terminal sends Ctrl-C to both.
  const signals = ['SIGTERM', 'SIGHUP', 'SIGINT']
  for (const signal of signals)
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  const child = spawn(newer, [__filename, ...process.argv.slice(2)], { stdio: 'inherit' })
  child.once('error', (error) => {
    console.error(`catalog-bot: ${newer} cannot be started: ${error.message}`)
    process.exit(2)
  })
  child.once('exit', (status, signal) => {
    if (signal === null) process.exit(status)
    for (const forwarded of signals) process.removeAllListeners(forwarded)
    process.kill(process.pid, signal)
  })
}

/** The program of the package `node`, where that is one this command can run under. */
function installedNode() {
  try {
    const description = require.resolve('node/package.json')
    const program = join(description, '..', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return isTooOld(require(description).version) || !fs.existsSync(program) ? undefined : program
  } catch {
    return undefined
  }
}

/** Imports a module; Node keeps what is compiled of it and of what it imports. */
function importKept(file) {
  const folder = compiledFolder()
  if (folder) enableCompileCache(folder)
  return import(pathToFileURL(file))
}

/**
 * Runs a script that scripts/build.ts joined. What V8 compiles of it is kept from run to run, in the user's own folder:
 * in a shared one others could plant theirs. Node's own cache would keep only what is compiled before the first
 * function runs; here it is all that has run.
 */
function runJoined(file) {
  const source = fs.readFileSync(file, 'latin1')
  const folder = compiledFolder()
  const [command = ''] = process.argv.slice(2)
  const kept = folder && join(folder, nameOf(source, command))
  // Most catalogs are judged before V8's optimising compiler pays; src/cli/optimizing-compiler.ts lets it go.
  if (command === 'validate') setFlagsFromString('--no-turbofan')
  const cachedData = kept && readKept(kept)
  const script = new Script(source, { filename: file, cachedData })
  if (kept && (cachedData === undefined || script.cachedDataRejected))
    process.once('exit', () => keep(kept, script.createCachedData()))
  const load = (path) => importKept(join(file, '..', path))
  script.runInThisContext()(require, load, join(file, '../cli'))
}

/** Undefined without a home: then everything is compiled anew. */
function compiledFolder() {
  try {
    const { CATALOG_BOT_CACHE: own, XDG_CACHE_HOME: shared } = process.env
    const caches = shared && isAbsolute(shared) ? shared : join(homedir(), '.cache')
    return join(own || join(caches, 'catalog-bot'), 'compiled')
  } catch {
    return undefined
  }
}

/**
 * Each build has other functions (its digest is the first line), and each command runs others of them. V8 itself looks
 * whether its version and flags are the same.
 */
function nameOf(source, command) {
  const [build] = /[0-9a-f]{16}/.exec(source)
  return [build, process.version, process.arch, command.replace(/\W/g, '').slice(0, 20)].join('-')
}

/** Undefined, too, after a day: the run that kept it may have been a short one. */
function readKept(path) {
  try {
    return Date.now() - fs.statSync(path).mtimeMs < day ? fs.readFileSync(path) : undefined
  } catch {
    return undefined
  }
}

/** Written whole beside its place and then moved there, since V8 would run half of it. */
function keep(path, data) {
  const draft = `${path}.${process.pid}`
  try {
    fs.mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
    fs.writeFileSync(draft, data, { mode: 0o600, flag: 'wx', flush: true })
    fs.renameSync(draft, path)
  } catch {
    remove(draft)
  }
}

function remove(path) {
  try {
    fs.rmSync(path, { force: true })
  } catch {
    // Where nothing can be written there is nothing to remove.
  }
}
