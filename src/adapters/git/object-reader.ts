// Reads objects through one long-lived `git cat-file --batch-command`. Requests are written together, so ten thousand
// files cost a few round trips. A dead or silent process is replaced.
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { GitError, classifyGitError } from './git-error.ts'
import { sanitizeGitOutput } from './remote.ts'
import { buildGitEnvironment } from './run-git.ts'
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
   * The commit of one of the mirror's own refs. Undefined if there is no such ref. Rejects as `read` does. `ref` must
   * be a checked name, because it becomes input text.
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
interface PendingCatFileResponse {
  readonly request: ObjectReadRequest
  readonly step: 'info' | 'contents'
}

interface CatFileObjectReaderOptions {
  readonly directory: string
  readonly timeout: number
  /** Whether Git belongs to this process's group and ends with it. */
  readonly staysInGroup?: boolean | undefined
}

export function createCatFileObjectReader(options: CatFileObjectReaderOptions): CatFileObjectReader {
  let worker: CatFileProcess | undefined
  let closed = false

  const submit = (request: ObjectReadRequest): void => {
    if (closed) return request.reject(new GitError('aborted', 'cat-file: the mirror is closed'))
    if (!worker?.alive) worker = new CatFileProcess(options, retry)
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

class CatFileProcess {
  readonly #timeout
  readonly #staysInGroup
  readonly #lost: (request: ObjectReadRequest, error: GitError) => void
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #expected: PendingCatFileResponse[] = []
  #alive = true
  #header = ''
  #body: { readonly type: string; readonly bytes: Buffer; filled: number } | undefined
  #silence: NodeJS.Timeout | undefined
  #unwritten: string[] = []
  // Tells a damaged object from a killed process.
  #errorOutput = ''

  constructor(
    options: CatFileObjectReaderOptions,
    lost: (request: ObjectReadRequest, error: GitError) => void,
  ) {
    const { directory, timeout, staysInGroup = false } = options
    this.#timeout = timeout
    this.#staysInGroup = staysInGroup
    this.#lost = lost
    this.#child = spawn('git', ['cat-file', '--batch-command', '--buffer'], {
      cwd: directory,
      env: { ...buildGitEnvironment('none'), GIT_DIR: directory },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: !staysInGroup,
    })
    // The reader alone must not keep the process running.
    this.#child.unref()
    this.#child.stdout.on('data', (chunk: Buffer) => {
      try {
        this.#consume(chunk)
      } catch (error) {
        this.#stop(error instanceof GitError ? error : new GitError('failed', 'cat-file', { cause: error }))
      }
      this.#listen()
    })
    this.#child.stdin.on('error', () => undefined)
    this.#child.once('error', (cause) =>
      this.#stop(new GitError('unsupported', 'Git could not be started', { cause })),
    )
    this.#child.stderr.setEncoding('utf8')
    this.#child.stderr.on('data', (text: string) => {
      this.#errorOutput = (this.#errorOutput + text).slice(-4096)
    })
    this.#child.once('close', (code, signal) =>
      this.#stop(
        new GitError(
          classifyGitError(this.#errorOutput),
          `cat-file exited (${signal ?? `exit ${code ?? '?'}`}): ${sanitizeGitOutput(this.#errorOutput)}`,
        ),
      ),
    )
  }

  get alive() {
    return this.#alive
  }

  get pid() {
    return this.#child.pid
  }

  readonly send = (request: ObjectReadRequest): void => this.#sendRequest(request, 'info')

  readonly stop = (error: GitError): void => {
    this.#child.stdin.end()
    this.#stop(error)
  }

  #stop(error: GitError): void {
    if (!this.#alive) return
    this.#alive = false
    clearTimeout(this.#silence)
    if (this.#staysInGroup) this.#child.kill('SIGKILL')
    else signalProcessGroup(this.#child.pid, 'SIGKILL')
    for (const request of new Set(this.#expected.map(({ request }) => request))) this.#lost(request, error)
    this.#expected.length = 0
  }

  #listen(): void {
    clearTimeout(this.#silence)
    if (this.#expected.length > 0)
      this.#silence = setTimeout(
        () => this.#stop(new GitError('timeout', 'cat-file: no response')),
        this.#timeout,
      )
  }

  #write(): void {
    if (this.#alive) this.#child.stdin.write(`${this.#unwritten.join('')}flush\n`)
    this.#unwritten = []
  }

  #sendRequest(request: ObjectReadRequest, step: PendingCatFileResponse['step']): void {
    this.#expected.push({ request, step })
    // Deferred, because callers waiting for the same answers ask again right after them.
    if (this.#unwritten.length === 0) process.nextTick(() => this.#write())
    this.#unwritten.push(`${step} ${request.id}\n`)
    if (this.#expected.length === 1) this.#listen()
  }

  /** A body only follows `contents`. */
  #onHeader(line: string): void {
    const next = this.#expected[0]
    if (!next) return this.#stop(new GitError('failed', 'cat-file sent an unexpected response'))
    if (line === `${next.request.id} missing`) {
      this.#expected.shift()
      return next.request.onMissing()
    }
    const found = parseObjectHeader(line, next.request.id)
    if (next.step === 'contents') {
      // One extra byte for the line feed after the content.
      this.#body = { type: found.type, bytes: Buffer.allocUnsafe(found.size + 1), filled: 0 }
      return
    }
    this.#expected.shift()
    if (next.request.onInfo(found)) this.#sendRequest(next.request, 'contents')
  }

  #consume(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length && this.#alive) {
      if (this.#body) {
        const taken = chunk.copy(this.#body.bytes, this.#body.filled, at)
        this.#body.filled += taken
        at += taken
        if (this.#body.filled < this.#body.bytes.length) continue
        const { type, bytes } = this.#body
        this.#body = undefined
        this.#expected.shift()?.request.resolve({ type, bytes: bytes.subarray(0, -1) })
      } else {
        const end = chunk.indexOf(0x0a, at)
        this.#header += chunk.toString('latin1', at, end < 0 ? chunk.length : end)
        at = end < 0 ? chunk.length : end + 1
        if (end < 0) continue
        const line = this.#header
        this.#header = ''
        this.#onHeader(line)
      }
    }
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
      { retryable: true },
    )
  return { id, type, size: Number(size) }
}
