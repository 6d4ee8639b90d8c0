// Events that make open pages of a repository reload, without anything about it.
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'
import type { StatusPageStore } from '../../ports/status-page-store.ts'

/** Beyond these, pages do not update until they are reloaded. */
const maxStreams = { total: 500, perClient: 12 } as const
/** Milliseconds between two reads of the store, for all open pages together. */
const defaultIntervalMs = 2_000
/** Intervals between heartbeats, which keep proxies from closing a stream, and between checks of the access. */
const intervalsPerHeartbeat = 10

export interface LiveUpdateStream {
  readonly response: ServerResponse
  readonly repository: RepositoryName
  /** The address that the limit counts by. */
  readonly client: string
  /** The session's form token. Absent for anonymous visitors. */
  readonly sessionWord: string | undefined
  /** Whether the visitor may still see the repository. The stream ends if not, or if it rejects. */
  readonly isAllowed: () => Promise<boolean>
}

export interface LiveUpdatesOptions {
  readonly store: Pick<StatusPageStore, 'readRepositoryVersions'>
  readonly log: Logger
  readonly intervalMs?: number | undefined
}

export class LiveUpdates {
  readonly #options: LiveUpdatesOptions
  /** With the version that each page last received. */
  readonly #streams = new Map<LiveUpdateStream, string | undefined>()
  #versions: ReadonlyMap<string, string> = new Map()
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  #interval = 0

  constructor(options: LiveUpdatesOptions) {
    this.#options = options
  }

  /** Takes over the response, or returns false if too many pages are open. */
  open(stream: LiveUpdateStream, headers: Readonly<Record<string, string>>): boolean {
    const { response, client } = stream
    const isSame = [...this.#streams.keys()].filter((one) => one.client === client)
    if (this.#streams.size >= maxStreams.total || isSame.length >= maxStreams.perClient) return false
    this.#streams.set(stream, undefined)
    response.on('close', () => this.#remove(stream))
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    response.write('retry: 5000\n\n')
    // Does not keep the process alive.
    this.#timer ??= setInterval(
      () => void this.#update(),
      this.#options.intervalMs ?? defaultIntervalMs,
    ).unref()
    return true
  }

  endSession(word: string): void {
    for (const stream of this.#streams.keys()) if (stream.sessionWord === word) stream.response.end()
  }

  /** Differs after each change. '' if no page of the repository is open. */
  getVersion(repository: RepositoryName): string {
    return this.#versions.get(toRepositoryKey(repository)) ?? ''
  }

  #remove(stream: LiveUpdateStream): void {
    this.#streams.delete(stream)
    if (this.#streams.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#versions = new Map()
  }

  async #update(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      this.#interval += 1
      if (this.#interval % intervalsPerHeartbeat === 0) await this.#endForbiddenStreams()
      await this.#announceChanges()
    } catch (error) {
      this.#options.log.warn({ err: error }, 'open pages could not be updated')
    } finally {
      this.#isReading = false
    }
  }

  async #announceChanges(): Promise<void> {
    const watched = new Map(
      [...this.#streams.keys()].map(({ repository }) => [toRepositoryKey(repository), repository]),
    )
    if (watched.size === 0) return
    const read = await this.#options.store.readRepositoryVersions([...watched.values()])
    this.#versions = new Map([...read].map(([key, version]) => [key, digestVersion(version)]))
    for (const [stream, announced] of this.#streams) {
      const version = this.#versions.get(toRepositoryKey(stream.repository))
      if (version === undefined || version === announced) continue
      this.#streams.set(stream, version)
      sendEvent(stream, `data: ${version}`)
    }
  }

  async #endForbiddenStreams(): Promise<void> {
    await Promise.all(
      [...this.#streams.keys()].map(async (stream) => {
        if (await stream.isAllowed().catch(() => false)) sendEvent(stream, ':')
        else stream.response.end()
      }),
    )
  }
}

function sendEvent({ response }: LiveUpdateStream, event: string): void {
  // A client that does not read would fill the memory.
  if (response.writableNeedDrain) response.destroy()
  else response.write(`${event}\n\n`)
}

const digestVersion = (version: string): string =>
  createHash('sha256').update(version).digest('hex').slice(0, 16)
