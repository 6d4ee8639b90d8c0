#!/usr/bin/env node
// The `catalog-bot` program: runs the built command line in a published package, or the sources in a checkout. It is CommonJS
// because starting Node's module loader takes as long as reading a megabyte of a catalog.
'use strict'
const fs = require('node:fs')
const { enableCompileCache } = require('node:module')
const { homedir } = require('node:os')
const { isAbsolute, join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { setFlagsFromString } = require('node:v8')
const { Script } = require('node:vm')

const day = 24 * 60 * 60 * 1000

/** Same as `engines` in package.json: the first long-term support release of Node that runs TypeScript without a flag. */
const oldestNode = [22, 20]

if (isTooOld(process.versions.node)) runUnderNewerNode()
else run()

function run() {
  // In a checkout, always runs the sources, because a build there might be outdated.
  const checkedOut = join(__dirname, '../src/cli.ts')
  if (fs.existsSync(checkedOut)) void importKept(checkedOut)
  else runJoined(join(__dirname, '../dist/cli.joined.js'))
}

function isTooOld(version) {
  const [major, minor] = version.split('.').map(Number)
  return major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])
}

/**
 * Runs under the Node that is installed with this package, as `npm ci` does in a checkout. Otherwise, explains how to get
 * one.
 */
function runUnderNewerNode() {
  const newer = installedNode()
  if (newer === undefined) {
    console.error(
      `catalog-bot requires Node.js ${oldestNode.join('.')} or later, but this is Node.js ${process.versions.node}.\n` +
        (fs.existsSync(join(__dirname, '../src/cli.ts'))
          ? 'Run "npm ci" in this checkout, which installs Node.js 24 for this project only.'
          : 'Install a later version from https://nodejs.org, or use npx to run only this command with Node.js 24:\n' +
            `  npx --package node@24 -- node ${__filename} ...`),
    )
    process.exit(2)
  }
  // Loaded only here, because loading it would slow down every other start.
  const { spawn } = require('node:child_process')
  // Registered before the child starts, because a signal in between would end only this process. A terminal sends Ctrl-C to both.
  const signals = ['SIGTERM', 'SIGHUP', 'SIGINT']
  for (const signal of signals)
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  const child = spawn(newer, [__filename, ...process.argv.slice(2)], { stdio: 'inherit' })
  child.once('error', (error) => {
    console.error(`catalog-bot: cannot start ${newer}: ${error.message}`)
    process.exit(2)
  })
  child.once('exit', (status, signal) => {
    if (signal === null) process.exit(status)
    for (const forwarded of signals) process.removeAllListeners(forwarded)
    process.kill(process.pid, signal)
  })
}

/** The program of the package `node`, if this command supports its version. */
function installedNode() {
  try {
    const description = require.resolve('node/package.json')
    const program = join(description, '..', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return isTooOld(require(description).version) || !fs.existsSync(program) ? undefined : program
  } catch {
    return undefined
  }
}

/** Imports a module. Node caches the compiled code of the module and its imports. */
function importKept(file) {
  const folder = compiledFolder()
  if (folder) enableCompileCache(folder)
  return import(pathToFileURL(file))
}

/**
 * Runs a script that scripts/build.ts joined. The code that V8 compiles is cached in the user's folder, because other users could
 * plant code in a shared folder. Node's cache would contain only code that is compiled before the first function runs. This cache
 * contains everything that has run.
 */
function runJoined(file) {
  const source = fs.readFileSync(file, 'latin1')
  const compiled = compiledFolder()
  const [command = ''] = process.argv.slice(2)
  const kept = compiled && join(compiled, nameOf(source, command))
  // Most catalogs are validated before optimized code, a larger heap, or other threads pay off. src/cli/validate.ts changes these
  // flags during the run.
  const setFlags = () =>
    command === 'validate' &&
    setFlagsFromString(
      '--no-turbofan --invocation-count-for-maglev=2000 --semi-space-growth-factor=2 --no-parallel-scavenge --no-incremental-marking',
    )
  setFlags()
  const cachedData = kept && readKept(kept)
  const script = new Script(source, { filename: file, cachedData })
  if (kept && (cachedData === undefined || script.cachedDataRejected))
    process.once('exit', () => {
      // V8 rejects cached code that was created with other flags than those with which it is read.
      setFlags()
      keep(kept, script.createCachedData())
    })
  // Common commands are in another script.
  const load = (path) => {
    const [joined, name] = path.split('?')
    return name ? runJoined(join(file, '..', joined))[name]() : importKept(join(file, '..', path))
  }
  const folder = join(file, '../cli')
  return script.runInThisContext()(require, load, folder, pathToFileURL(join(folder, 'cli.js')).href)
}

/** Undefined without a home folder. Then, nothing is cached. */
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
 * Each build contains different functions (its digest is in the first line), and each command runs different ones. V8 itself checks
 * that its version and flags match.
 */
function nameOf(source, command) {
  const [build] = /[0-9a-f]{16}/.exec(source)
  return [build, process.version, process.arch, command.replace(/\W/g, '').slice(0, 20)].join('-')
}

/** Also undefined after a day, because the run that wrote the cache might have been a short one. */
function readKept(path) {
  try {
    return Date.now() - fs.statSync(path).mtimeMs < day ? fs.readFileSync(path) : undefined
  } catch {
    return undefined
  }
}

/** Writes a temporary file and renames it, because V8 would run incomplete code. */
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
    // If the file cannot be removed, it could not be written either.
  }
}
