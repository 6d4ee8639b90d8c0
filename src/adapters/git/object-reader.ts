// Reads objects through one long-lived `git cat-file --batch-command`. Requests are written together, so ten thousand
// files cost a few round trips. A dead or silent process is replaced.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { classifyGitError } from './classify-git-error.ts'
import { buildGitEnvironment } from './environment.ts'
import { GitError } from './git-error.ts'
import { toPlainTextParagraph } from './redact.ts'
import { signalProcessGroup } from './run-process.ts'

export interface GitObject {
  readonly type: string
  readonly bytes: Buffer
}

export interface GitObjectReader {
  /**
   * An object of any type. Rejects with GitError `missing` when it is not here and `too-large` when it has more than
   * `limit` bytes (nothing of it is then read); `failed` or `timeout` (retryable) when two processes in a row ended
   * without an answer. `id` must be a checked object id: it becomes a line of input.
   */
  read(id: string, limit: number): Promise<GitObject>
  /**
   * The commit of a ref of ours. Undefined: there is no such ref. Rejects as `read` does. `ref` must be a checked name,
   * because it becomes input text.
   */
  tipOf(ref: string): Promise<string | undefined>
}

export interface CatFileObjectReader extends GitObjectReader {
  restart(): void
  close(): void
  /** The running process, for tests that end it. */
  readonly pid: number | undefined
}

interface ObjectHeader {
  readonly id: string
  readonly type: string
  readonly size: number
}

interface ObjectReadRequest {
  /** An object id, or a ref's commit. */
  readonly id: string
  /** Called before reading the contents. True: read them. */
  readonly onInfo: (header: ObjectHeader) => boolean
  readonly onMissing: () => void
  readonly resolve: (object: GitObject) => void
  readonly reject: (error: GitError) => void
  attempts: number
}

/** The request that the next header line answers. */
interface PendingCatFileReply {
  readonly request: ObjectReadRequest
  readonly step: 'info' | 'contents'
}

interface CatFileObjectReaderOptions {
  readonly directory: string
  readonly timeout: number
  /** Whether git belongs to our process group and ends with it. */
  readonly staysInGroup?: boolean | undefined
}

export function openCatFileObjectReader(options: CatFileObjectReaderOptions): CatFileObjectReader {
  let worker: CatFileProcess | undefined
  let closed = false

  const submit = (request: ObjectReadRequest): void => {
    if (closed) return request.reject(new GitError('aborted', 'cat-file: the mirror is closed'))
    if (!worker?.alive) worker = startCatFile(options, retry)
    worker.send(request)
  }
  // Reading changes nothing, so a request that lost its process is retried once.
  const retry = (request: ObjectReadRequest, error: GitError): void => {
    request.attempts += 1
    if (request.attempts > 1 || closed) request.reject(error)
    else submit(request)
  }

  return {
    read: (id, limit) =>
      new Promise((resolve, reject) => {
        const onMissing = () => reject(new GitError('missing', `object ${id} is missing`))
        const onInfo = ({ size }: ObjectHeader) => {
          if (size <= limit) return true
          reject(
            new GitError('too-large', `object ${id} is ${size} bytes, which exceeds the limit of ${limit}`),
          )
          return false
        }
        submit({ id, onInfo, onMissing, resolve, reject, attempts: 0 })
      }),
    tipOf: (ref) =>
      new Promise((resolve, reject) => {
        const onInfo = ({ id }: ObjectHeader) => (resolve(id), false)
        const onMissing = () => resolve(undefined)
        const id = `${ref}^{commit}`
        submit({ id, onInfo, onMissing, resolve: () => undefined, reject, attempts: 0 })
      }),
    restart: () => worker?.stop(new GitError('failed', 'cat-file: the mirror is being recreated')),
    close: () => {
      closed = true
      worker?.stop(new GitError('aborted', 'cat-file: the mirror was closed'))
    },
    get pid() {
      return worker?.alive ? worker.pid : undefined
    },
  }
}

interface CatFileProcess {
  readonly alive: boolean
  readonly pid: number | undefined
  send(request: ObjectReadRequest): void
  stop(error: GitError): void
}

function startCatFile(
  { directory, timeout, staysInGroup = false }: CatFileObjectReaderOptions,
  lost: (request: ObjectReadRequest, error: GitError) => void,
): CatFileProcess {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(
    'git',
    ['cat-file', '--batch-command', '--buffer'],
    {
      cwd: directory,
      env: { ...buildGitEnvironment('none'), GIT_DIR: directory },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: !staysInGroup,
    },
  )
  // The reader alone must not keep the process running.
  child.unref()
  const expected: PendingCatFileReply[] = []
  let alive = true
  let header = ''
  let body: { readonly type: string; readonly bytes: Buffer; filled: number } | undefined
  let silence: NodeJS.Timeout | undefined

  const stop = (error: GitError): void => {
    if (!alive) return
    alive = false
    clearTimeout(silence)
    if (staysInGroup) child.kill('SIGKILL')
    else signalProcessGroup(child.pid, 'SIGKILL')
    for (const request of new Set(expected.map(({ request }) => request))) lost(request, error)
    expected.length = 0
  }
  const listen = (): void => {
    clearTimeout(silence)
    if (expected.length > 0)
      silence = setTimeout(() => stop(new GitError('timeout', 'cat-file: no response')), timeout)
  }
  let unwritten: string[] = []
  const write = (): void => {
    if (alive) child.stdin.write(`${unwritten.join('')}flush\n`)
    unwritten = []
  }
  const sendRequest = (request: ObjectReadRequest, step: PendingCatFileReply['step']): void => {
    expected.push({ request, step })
    // Deferred, because callers waiting for the same answers ask again right after them.
    if (unwritten.length === 0) process.nextTick(write)
    unwritten.push(`${step} ${request.id}\n`)
    if (expected.length === 1) listen()
  }
  /** A body only follows `contents`. */
  const onHeader = (line: string): void => {
    const next = expected[0]
    if (!next) return stop(new GitError('failed', 'cat-file sent an unexpected response'))
    if (line === `${next.request.id} missing`) {
      expected.shift()
      return next.request.onMissing()
    }
    const found = parseObjectHeader(line, next.request.id)
    if (next.step === 'contents') {
      // One extra byte for the line feed after the content.
      body = { type: found.type, bytes: Buffer.allocUnsafe(found.size + 1), filled: 0 }
      return
    }
    expected.shift()
    if (next.request.onInfo(found)) sendRequest(next.request, 'contents')
  }
  const consume = (chunk: Buffer): void => {
    let at = 0
    while (at < chunk.length && alive) {
      if (body) {
        const taken = chunk.copy(body.bytes, body.filled, at)
        body.filled += taken
        at += taken
        if (body.filled < body.bytes.length) continue
        const { type, bytes } = body
        body = undefined
        expected.shift()?.request.resolve({ type, bytes: bytes.subarray(0, -1) })
      } else {
        const end = chunk.indexOf(0x0a, at)
        header += chunk.toString('latin1', at, end < 0 ? chunk.length : end)
        at = end < 0 ? chunk.length : end + 1
        if (end < 0) continue
        const line = header
        header = ''
        onHeader(line)
      }
    }
  }
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      consume(chunk)
    } catch (error) {
      stop(error instanceof GitError ? error : new GitError('failed', 'cat-file', { cause: error }))
    }
    listen()
  })
  child.stdin.on('error', () => undefined)
  child.once('error', (cause) => stop(new GitError('unsupported', 'Git could not be started', { cause })))
  // Tells a damaged object from a killed process.
  let errorOutput = ''
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-4096)
  })
  child.once('close', (code, signal) =>
    stop(
      new GitError(
        classifyGitError(errorOutput),
        `cat-file exited (${signal ?? `exit ${code ?? '?'}`}): ${toPlainTextParagraph(errorOutput)}`,
      ),
    ),
  )

  return {
    get alive() {
      return alive
    },
    get pid() {
      return child.pid
    },
    send: (request) => sendRequest(request, 'info'),
    stop: (error) => {
      child.stdin.end()
      stop(error)
    },
  }
}

function parseObjectHeader(line: string, requestedId: string): ObjectHeader {
  const [, id = '', type = '', size = ''] = /^([0-9a-f]+) ([a-z]+) (\d+)$/.exec(line) ?? []
  // A request by name is answered by id.
  const isIt = id === requestedId || (id !== '' && requestedId.startsWith('refs/') && type === 'commit')
  if (!isIt)
    throw new GitError(
      'corrupt',
      `cat-file returned ${JSON.stringify(line.slice(0, 100))} for ${requestedId}`,
      {
        retryable: true,
      },
    )
  return { id, type, size: Number(size) }
}
