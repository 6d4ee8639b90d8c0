// Output of commands: results go to stdout, everything else goes to stderr, and exit codes are 0, 1, and 2.

import { fstatSync, writeSync } from 'node:fs'
import {
  escapeNonPrintableCharacters,
  escapeNonPrintableJsonCharacters,
  escapeNonPrintableLines,
} from '@catalog-bot/findings/printable'
import { readPackageMetadata } from '../adapters/package-metadata.ts'

const messageBySystemErrorCode: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EADDRINUSE: 'the address is already in use',
  EADDRNOTAVAIL: 'this address does not exist on this machine',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EEXIST: 'the file already exists',
  EISDIR: 'expected a file, but found a directory',
  ELOOP: 'the symbolic links form a loop',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'no such file or directory',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'part of the path is not a directory',
  ENOTEMPTY: 'the directory is not empty',
  ENOTFOUND: 'host not found',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ETIMEDOUT: 'the connection timed out',
}

/** 0: success. 1: the check failed. 2: the result is inconclusive, or the command could not run. */
export type ExitCode = 0 | 1 | 2

const descriptorByOutput = { stdout: 1, stderr: 2 } as const
type Output = keyof typeof descriptorByOutput

const outputsWithoutStream = new Set<Output>()

/** With `isShort`, loads Node's streams only for terminals, because loading them takes as long as reading half a megabyte of a catalog. */
export function prepareOutput({ isShort }: { readonly isShort: boolean }): void {
  for (const output of ['stdout', 'stderr'] as const)
    // A terminal is a character device.
    if (isShort && !fstatSync(descriptorByOutput[output]).isCharacterDevice())
      outputsWithoutStream.add(output)
    else exitWhenClosed(output)
}

/** A closed pipe, as with `head`, is not a failure, and an exit code that is already set still applies. */
function exitWhenClosed(output: Output): void {
  process[output].on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') exitWithError(error)
    process.exit(process.exitCode ?? 2)
  })
}

function write(output: Output, text: string): void {
  if (!outputsWithoutStream.has(output)) {
    process[output].write(text)
    return
  }
  let bytes = Buffer.from(text)
  try {
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(descriptorByOutput[output], bytes))
  } catch {
    // The stream waits for a pipe that is full, and reports any other error.
    outputsWithoutStream.delete(output)
    exitWhenClosed(output)
    process[output].write(bytes)
  }
}

export function printToStdout(text: string): void {
  write('stdout', text.endsWith('\n') ? text : `${text}\n`)
}

/** Prints JSON in parts, because it may exceed the maximum length of a string. */
export function printJson(value: unknown): void {
  let part = ''
  for (const piece of generateJsonChunks(value)) {
    part += escapeNonPrintableJsonCharacters(piece)
    if (part.length < minOutputChunkLength) continue
    write('stdout', part)
    part = ''
  }
  write('stdout', `${part}\n`)
}

const minOutputChunkLength = 1024 * 1024
const maxJsonItemsPerChunk = 1000

function* generateJsonChunks(value: unknown): Generator<string> {
  if (Array.isArray(value) && value.length > maxJsonItemsPerChunk) {
    for (let at = 0; at < value.length; at += maxJsonItemsPerChunk) {
      yield at === 0 ? '[' : ','
      yield JSON.stringify(value.slice(at, at + maxJsonItemsPerChunk)).slice(1, -1)
    }
    yield ']'
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    let before = '{'
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue
      yield `${before}${JSON.stringify(key)}:`
      yield* generateJsonChunks(field)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  } else yield JSON.stringify(value)
}

/** Escapes each line, because messages contain names from catalogs, directories, and arguments. */
export function printToStderr(text: string): void {
  write('stderr', escapeNonPrintableLines(text.endsWith('\n') ? text : `${text}\n`))
}

/** Replaces the previously shown text. The new text can contain untrusted text. */
export type ReportProgress = (text: string) => void

const defaultProgressDelayMs = 1000

/**
 * Shows progress while `work` runs, if it takes longer than `delayMs` (default: a second) and stderr is a terminal.
 * Shows nothing in a pipe or in CI.
 */
export async function withProgress<Result>(
  text: string,
  work: (report: ReportProgress) => Promise<Result>,
  delayMs = defaultProgressDelayMs,
): Promise<Result> {
  if (
    outputsWithoutStream.has('stderr') ||
    !process.stderr.isTTY ||
    process.env.TERM === 'dumb' ||
    'CI' in process.env
  )
    return await work(() => undefined)
  const { default: createSpinner } = await import('yocto-spinner')
  // A command that stops gracefully has its own signal handlers. The spinner's handler would exit.
  const spinner = createSpinner({ handleSignals: process.listenerCount('SIGINT') === 0 })
  const showAt = performance.now() + delayMs
  let latest = text
  const timer = setTimeout(() => spinner.start(latest), delayMs)
  try {
    return await work((next) => {
      latest = escapeNonPrintableCharacters(next)
      if (spinner.isSpinning) spinner.text = latest
      // Work that never yields keeps the timer from firing.
      else if (performance.now() >= showAt) spinner.start(latest)
    })
  } finally {
    clearTimeout(timer)
    spinner.stop()
  }
}

/** Sets the exit code without exiting, so that pending output is written. */
export function setExitCode(code: ExitCode): void {
  process.exitCode = code
}

/** Prints a readable message, and the stack trace if `DEBUG` is set. */
export function exitWithError(error: unknown): void {
  const message = formatSystemError(error) ?? (error instanceof Error ? error.message : String(error))
  printToStderr(`catalog-bot: ${message}`)
  if (process.env.DEBUG && error instanceof Error && error.stack !== undefined) printToStderr(error.stack)
  setExitCode(2)
}

/** Whether output is colored: by https://no-color.org and https://force-color.org, otherwise only on a terminal. */
export function supportsColor(stream: { readonly isTTY?: boolean }, environment = process.env): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = environment
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return !['0', 'false'].includes(FORCE_COLOR)
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  return stream.isTTY === true && TERM !== 'dumb'
}

/** Returns undefined for other errors. */
export function formatSystemError(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const meaning = messageBySystemErrorCode[error.code]
  // Errors of catalog-bot can have codes too.
  if (meaning === undefined || !('syscall' in error) || typeof error.syscall !== 'string') return undefined
  if (error.syscall.startsWith('spawn') && error.code === 'ENOENT')
    return `${error.syscall.slice('spawn '.length) || 'a program'} is required but not installed`
  const { path, address, hostname, port } = error as Error & {
    readonly path?: string
    readonly address?: string
    readonly hostname?: string
    readonly port?: number
  }
  const host = hostname ?? address
  const subject = path ?? (host === undefined || port === undefined ? host : `${host}:${port}`)
  return subject === undefined ? meaning : `${subject}: ${meaning}`
}

export function formatRunAppHint(): string {
  const { distribution } = readPackageMetadata()
  return distribution === undefined
    ? 'Run the App from a checkout of catalog-bot.'
    : `To run the App, see https://github.com/${distribution.repository}#readme.`
}

/**
 * The URLs of rule pages: below RULES_URL, which a bot administrator or a fork can set, or in the project's
 * repository. The URL prefix before `<id>.md`. Undefined in a checkout, whose pages `catalog-bot rule` prints.
 */
export function getRulesBaseUrl(): string | undefined {
  const { RULES_URL: own } = process.env
  if (own !== undefined && own !== '') {
    const url = URL.parse(own)
    if (url?.username || url?.password) throw new Error('RULES_URL must not contain a user name or password')
    return own.endsWith('/') ? own : `${own}/`
  }
  const { distribution, version } = readPackageMetadata()
  return distribution === undefined
    ? undefined
    : `https://github.com/${distribution.repository}/blob/v${version}/docs/rules/`
}

export function getRuleUrl(id: string): string | undefined {
  const base = getRulesBaseUrl()
  return base === undefined ? undefined : `${base}${encodeURIComponent(id)}.md`
}

/** Exits with 0, or with 1 if closing fails. A second signal exits immediately. */
export function closeOnTerminationSignal(close: () => Promise<unknown>): void {
  let isStopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (isStopping) process.exit(1)
      isStopping = true
      close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
}
