// Builds and runs the Go program in this folder, which reads image layers or a document with the readers of Go.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface GoReaderOutput {
  readonly error?: string
  /** Path to base64. */
  readonly files?: Readonly<Record<string, string>>
  readonly read?: unknown
}

export interface GoImageReaders {
  /** Whether zstd layers can be compared, because the Go module for zstd is available. */
  readonly readsZstd: boolean
  unpack(layers: readonly Uint8Array[]): Promise<GoReaderOutput>
  read(kind: 'manifest' | 'index' | 'config', document: Uint8Array): Promise<GoReaderOutput>
  close(): Promise<void>
}

/** The `go` command; undefined if it isn't installed. */
export function findGoCommand(): string | undefined {
  return ['go', '/usr/local/go/bin/go'].find((go) => spawnSync(go, ['version']).status === 0)
}

/** Builds the program, in half a minute or less, and starts it. */
export function startGoImageReaders(go: string): GoImageReaders {
  const directory = mkdtempSync(join(tmpdir(), 'go-readers-'))
  const program = join(directory, 'go-readers')
  const build = (...tags: readonly string[]) =>
    spawnSync(go, ['build', ...tags, '-o', program, '.'], {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      encoding: 'utf8',
      env: { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' },
    })
  const readsZstd = build('-tags', 'zstd').status === 0
  const built = readsZstd ? { status: 0, stderr: '' } : build()
  if (built.status !== 0) {
    rmSync(directory, { recursive: true })
    throw new Error(`the Go readers could not be built: ${built.stderr}`)
  }
  // Keeps temporary files in memory if possible.
  const scratch = existsSync('/dev/shm') ? '/dev/shm' : directory
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'], env: { TMPDIR: scratch } })
  const waiting: ((answer: GoReaderOutput) => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) =>
    waiting.shift()?.(JSON.parse(line) as GoReaderOutput),
  )
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const queryProgram = (question: object) =>
    new Promise<GoReaderOutput>((resolve) => {
      waiting.push(resolve)
      child.stdin.write(`${JSON.stringify(question)}\n`)
    })
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
  return {
    readsZstd,
    unpack: (layers) => queryProgram({ Layers: layers.map(base64) }),
    read: (kind, document) => queryProgram({ Kind: kind, Document: base64(document) }),
    async close() {
      child.stdin.end()
      await ended
      rmSync(directory, { recursive: true })
    },
  }
}
