// Fetches one branch and one pull request's head to dedicated refs, without tags, other branches, or submodules.
// Deletes refs that the server deleted.
import { BodyBuffer } from '../body-buffer.ts'
import { toCommitSha, type PullNumber } from '../../pull-request/ids.ts'
import { readCommit } from './commits.ts'
import { formatBasicAuthorization } from '../../ports/proxy.ts'
import { GitError, isGitError } from './git-error.ts'
import { runGit, type GitRunner } from './run-git.ts'
import type { GitObjectReader } from './object-reader.ts'
import {
  type GitCredential,
  type GitRemote,
  readGitCredential,
  toBranchRef,
  toMirrorBranchRef,
  toMirrorPullRef,
  toMirrorTestMergeRef,
  toPullRef,
  toTestMergeRef,
} from './remote.ts'

/** Concurrent fetches. Each has several processes and usually waits for the server. */
const maxFetchSlots = 6

/** Milliseconds until a fetch gives up its slot. An update of some packages takes half of that. */
const fetchSlotTimeoutMs = 1500

/** Including those that gave up their slots. */
const maxRunningFetches = 8

/** Milliseconds after which a fetch may be stopped if others wait and the limit is reached. */
const minFetchMsBeforePreemption = 60_000

export interface FetchSchedulerLimits {
  readonly slots: number
  readonly slotTimeoutMs: number
  readonly maxRunning: number
  readonly stoppableAfterMs: number
}

interface RunningFetch {
  readonly since: number
  readonly isAlone: boolean
  readonly end: (why: GitError) => void
}

/**
 * Limits concurrent fetches into one mirror. A long fetch yields its slot to the next fetch and continues in parallel.
 * If too many fetches do this, the longest one is stopped.
 */
export class FetchScheduler {
  readonly #limits: FetchSchedulerLimits
  readonly #running = new Set<RunningFetch>()
  readonly #queue: { readonly isAlone: boolean; readonly start: () => void }[] = []
  #idle: PromiseWithResolvers<void> | undefined
  #clock: NodeJS.Timeout | undefined

  constructor(
    limits: FetchSchedulerLimits = {
      slots: maxFetchSlots,
      slotTimeoutMs: fetchSlotTimeoutMs,
      maxRunning: maxRunningFetches,
      stoppableAfterMs: minFetchMsBeforePreemption,
    },
  ) {
    this.#limits = limits
  }

  /** `work` must end soon after its signal aborts, and reject. */
  readonly run = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => this.#enter(false, work)
  /** Runs alone: waits for fetches in progress, and delays new ones. */
  readonly runExclusively = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    this.#enter(true, work)

  /** Stops all. They reject with `why`. */
  readonly stop = (why: GitError): void => {
    for (const one of this.#running) one.end(why)
  }

  readonly idle = async (): Promise<void> => {
    if (this.#running.size === 0 && this.#queue.length === 0) return
    this.#idle ??= Promise.withResolvers()
    await this.#idle.promise
  }

  #mayStart(isAlone: boolean): boolean {
    if (this.#running.size === 0) return true
    if (isAlone || [...this.#running].some((one) => one.isAlone)) return false
    const soon = performance.now() - this.#limits.slotTimeoutMs
    const fetchesInSlots = [...this.#running].filter(({ since }) => since > soon).length
    return fetchesInSlots < this.#limits.slots && this.#running.size < this.#limits.maxRunning
  }

  #next(): void {
    clearTimeout(this.#clock)
    for (let first = this.#queue[0]; first && this.#mayStart(first.isAlone); first = this.#queue[0]) {
      this.#queue.shift()
      first.start()
    }
    if (this.#queue.length > 0) {
      this.#endOldest()
      this.#clock = setTimeout(() => this.#next(), this.#limits.slotTimeoutMs).unref()
    } else if (this.#running.size === 0) this.#idle?.resolve()
  }

  #endOldest(): void {
    // Sets keep insertion order.
    const [first] = this.#running
    if (!first || first.isAlone || this.#running.size < this.#limits.maxRunning) return
    if (performance.now() - first.since > this.#limits.stoppableAfterMs)
      first.end(new GitError('timeout', 'git fetch: stopped because other fetches were waiting'))
  }

  async #enter<T>(isAlone: boolean, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const slot = Promise.withResolvers<void>()
    const stopping = new AbortController()
    let why: GitError | undefined
    const createRunning = (): RunningFetch => ({
      since: performance.now(),
      isAlone,
      end: (reason) => {
        why = reason
        stopping.abort()
      },
    })
    let own: RunningFetch | undefined
    this.#queue.push({
      isAlone,
      start: () => {
        this.#running.add((own = createRunning()))
        slot.resolve()
      },
    })
    this.#next()
    await slot.promise
    try {
      if (why) throw why
      return await work(stopping.signal)
    } catch (error) {
      throw why ?? error
    } finally {
      if (own) this.#running.delete(own)
      this.#next()
    }
  }
}

/** Milliseconds for one request. Slower servers are left to git. */
const gitRequestTimeoutMs = 10_000

/** Larger fetches and pushes are left to Git. */
export const maxPackBytes = 8 * 1024 * 1024

/** Bytes. The server also lists branches whose names start with the given one. */
const maxGitResponseBytes = 64 * 1024

export interface GitFetchOptions {
  readonly directory: string
  readonly remote: GitRemote
  readonly timeout: number
  readonly signal: AbortSignal
  readonly local: GitRunner
  readonly objects: GitObjectReader
}

export async function fetchRefs(options: GitFetchOptions, branch: string, pull?: PullNumber): Promise<void> {
  const refspecs = [{ theirs: toBranchRef(branch), ours: toMirrorBranchRef(branch) }]
  if (pull !== undefined) refspecs.push({ theirs: toPullRef(pull), ours: toMirrorPullRef(pull) })
  await fetchRefspecs(options, refspecs)
}

/** Fetches GitHub's test merge of a pull request. */
export async function fetchTestMergeCommit(options: GitFetchOptions, pull: PullNumber): Promise<void> {
  await fetchRefspecs(options, [{ theirs: toTestMergeRef(pull), ours: toMirrorTestMergeRef(pull) }])
}

interface Refspec {
  readonly theirs: string
  readonly ours: string
}

async function fetchRefspecs(options: GitFetchOptions, refs: readonly Refspec[]): Promise<void> {
  if (await fetchOverHttp(options, refs)) return
  let remaining = [...refs]
  while (remaining.length > 0) {
    const absent = await fetchRefsOrFindMissingRef(options, remaining)
    if (absent === undefined) return
    const absentRefs = remaining.filter(({ theirs }) => theirs === absent)
    // Git may only name a requested ref; another one would loop forever.
    if (absentRefs.length === 0)
      throw new GitError('failed', 'git fetch reported a missing ref that was not requested')
    const input = absentRefs.map(({ ours }) => `delete ${ours}\0\0`).join('')
    await options.local(['update-ref', '--stdin', '-z'], { input })
    remaining = remaining.filter((ref) => !absentRefs.includes(ref))
  }
}

/**
 * Fetches with at most two requests over an open connection, and at most two processes. `git fetch` sends four requests
 * over another connection, and starts seven processes. Returns whether the mirror's refs equal the server's. If not, Git
 * fetches, and reports errors.
 */
async function fetchOverHttp(
  { directory, remote, timeout, signal, objects }: GitFetchOptions,
  refs: readonly Refspec[],
): Promise<boolean> {
  const readTips = () => Promise.all(refs.map(({ ours }) => objects.tipOf(ours)))
  const here = await readTips()
  // Without the branch, nearly everything is missing.
  if (here[0] === undefined) return false
  const names = refs.map(({ theirs }) => theirs)
  const advertised = await fetchAdvertisedRefs(remote, names, signal)
  const there = names.flatMap((name) => advertised?.get(name) ?? [])
  if (there.length < refs.length) return false
  const updates = refs
    .map(({ ours }, at) => ({ ours, from: here[at] ?? '0'.repeat(40), to: there[at] ?? '' }))
    .filter(({ from, to }) => from !== to)
  if (updates.length === 0) return true
  const runOnce = (args: readonly string[], input: string | Buffer) =>
    runGit({ args, input, directory, timeout, signal, limit: 1000 })
  try {
    const missingCommits = await selectMissingCommits(
      objects,
      updates.map(({ to }) => to),
    )
    if (missingCommits.length > 0) {
      const pack = await fetchPack(remote, missingCommits, [...new Set(here)], signal)
      // Rejects what `git fetch` rejects and more, and objects that refer to others in neither the pack nor the mirror.
      await runOnce(['index-pack', '--stdin', '--fix-thin', '--strict'], pack)
    }
    const lines = updates.map(({ ours, from, to }) => `update ${ours}\0${to}\0${from}\0`)
    await runOnce(['update-ref', '--stdin', '-z'], lines.join(''))
  } catch (error) {
    // Another fetch or a push might have moved the same refs.
    if (!isGitError(error)) throw error
  }
  return (await readTips()).every((tip, at) => tip === there[at])
}

/** The mirror already has merges that catalog-bot pushed. */
async function selectMissingCommits(
  objects: GitObjectReader,
  ids: readonly string[],
): Promise<readonly string[]> {
  const isHere = (id: string) => readCommit(objects, toCommitSha(id)).then(Boolean, () => false)
  const found = await Promise.all(ids.map(isHere))
  return ids.filter((_, at) => found[at] === false)
}

/** The objects of `commits` that `known` doesn't have. Rejects with a GitError if the server doesn't send exactly a pack. */
async function fetchPack(
  remote: GitRemote,
  commits: readonly string[],
  known: readonly (string | undefined)[],
  signal: AbortSignal,
): Promise<Buffer> {
  const wants = commits.map((id) => `want ${id}`)
  const haves = known.flatMap((id) => (id === undefined ? [] : [`have ${id}`]))
  const lines = ['thin-pack', 'ofs-delta', 'no-progress', ...wants, ...haves, 'done']
  const [header, ...bands] = (await requestUploadPack(remote, 'fetch', lines, signal, maxPackBytes)) ?? []
  if (header?.toString() !== 'packfile\n' || readBand(bands, 3).length > 0)
    throw new GitError('failed', 'the server sent no pack')
  return readBand(bands, 1)
}

/** Fetches all or nothing. Returns the ref that the server lacks; undefined: success. */
async function fetchRefsOrFindMissingRef(
  { directory, remote, timeout, signal }: GitFetchOptions,
  refs: readonly Refspec[],
): Promise<string | undefined> {
  const args = [
    'fetch',
    '--quiet',
    '--atomic',
    '--no-tags',
    '--no-prune',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--no-recurse-submodules',
    '--no-show-forced-updates',
    '--end-of-options',
    remote.url,
    ...refs.map(({ theirs, ours }) => `+${theirs}:${ours}`),
  ]
  // Every failure of git fetch exits with 128, so the message decides.
  const call = { args, directory, remote, timeout, signal, limit: 1024 * 1024 }
  for (let tries = 1; ; tries += 1)
    try {
      await runGit(call)
      return undefined
    } catch (error) {
      if (
        isGitError(error, 'failed') &&
        tries < maxLockConflictFetchAttempts &&
        lockConflictPattern.test(error.message)
      )
        continue
      const absent = isGitError(error, 'missing')
        ? /fatal: couldn't find remote ref (\S+)/.exec(error.message)?.[1]
        : undefined
      if (absent === undefined) throw error
      return absent
    }
}

/** Another fetch moved the same branch. The objects are here, so a retry only moves the refs. */
const lockConflictPattern = /cannot lock ref|reference already exists|unable to create '[^']*\.lock'/i
const maxLockConflictFetchAttempts = 5

/**
 * The positions of `refs`, without missing ones. Undefined: not learned this way (not http, another protocol, any
 * failure), so git asks and reports the error. Throws GitError `unauthorized` when there is no credential.
 */
export async function fetchAdvertisedRefs(
  remote: GitRemote,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  // Git handles proxies.
  if (remote.protocol === 'file' || remote.proxy !== undefined) return undefined
  const lines = refs.map((ref) => `ref-prefix ${ref}`)
  const response = await requestUploadPack(remote, 'ls-refs', lines, signal, maxGitResponseBytes)
  return response && parseLsRefsResponse(response, refs)
}

/** The lines of the response. Undefined after any failure. Rejects if there is no credential. */
async function requestUploadPack(
  remote: GitRemote,
  command: 'ls-refs' | 'fetch',
  lines: readonly string[],
  signal: AbortSignal,
  maxBytes: number,
): Promise<readonly Buffer[] | undefined> {
  const credential = await readGitCredential(remote)
  const stopping = AbortSignal.any([signal, AbortSignal.timeout(gitRequestTimeoutMs)])
  const body = [
    formatPktLine(`command=${command}\n`),
    formatPktLine('object-format=sha1\n'),
    '0001',
    ...lines.map((line) => formatPktLine(`${line}\n`)),
    '0000',
  ].join('')
  const response = await postToGitServer(remote, 'upload-pack', body, credential, stopping, maxBytes).catch(
    () => undefined,
  )
  return response instanceof Buffer ? parsePktLines(response) : undefined
}

/**
 * One request of Git's HTTP protocol. Returns the response's body, or its status if it isn't 200. Rejects as fetch()
 * does, and if the body is too large.
 */
export async function postToGitServer(
  { url }: GitRemote,
  service: 'upload-pack' | 'receive-pack',
  body: string | Uint8Array<ArrayBuffer>,
  credential: GitCredential | undefined,
  signal: AbortSignal,
  maxBytes = maxGitResponseBytes,
): Promise<Buffer | number> {
  const response = await fetch(`${url}/git-${service}`, {
    method: 'POST',
    redirect: 'manual',
    signal,
    headers: {
      // Pushes have no second version.
      ...(service === 'upload-pack' && { 'git-protocol': 'version=2' }),
      'content-type': `application/x-git-${service}-request`,
      accept: `application/x-git-${service}-result`,
      'user-agent': 'catalog-bot',
      ...(credential && { authorization: formatBasicAuthorization(credential) }),
    },
    body,
  })
  if (response.status === 200) return readResponseBody(response, maxBytes)
  await response.body?.cancel()
  return response.status
}

export const formatPktLine = (text: string): string =>
  `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`

async function readResponseBody(response: Response, maxBytes: number): Promise<Buffer> {
  const body = new BodyBuffer()
  const parts: AsyncIterable<Uint8Array> | null = response.body
  for await (const part of parts ?? []) {
    if (body.length + part.length > maxBytes)
      throw new GitError('too-large', `the response exceeds ${maxBytes} bytes`)
    body.add(part)
  }
  return body.toBuffer()
}

/** The lines of a Git response. Undefined unless every line follows the protocol, up to the one flush packet. */
export function parsePktLines(body: Buffer): readonly Buffer[] | undefined {
  const lines: Buffer[] = []
  for (let at = 0; ;) {
    const length = body.toString('latin1', at, at + 4)
    if (length === '0000') return at + 4 === body.length ? lines : undefined
    const size = /^[0-9a-f]{4}$/.test(length) ? Number.parseInt(length, 16) : 0
    if (size < 5 || at + size > body.length) return undefined
    lines.push(body.subarray(at + 4, at + size))
    at += size
  }
}

/** What the server sent in one band of a multiplexed response. */
export const readBand = (lines: readonly Buffer[], band: 1 | 2 | 3): Buffer =>
  Buffer.concat(lines.filter(([number]) => number === band).map((line) => line.subarray(1)))

function parseLsRefsResponse(
  lines: readonly Buffer[],
  refs: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>()
  for (const line of lines) {
    const [, id, ref] = /^([0-9a-f]{40}) ([^ \n]+)[^\n]*\n?$/.exec(line.toString('utf8')) ?? []
    if (id === undefined || ref === undefined || found.has(ref)) return undefined
    if (refs.includes(ref)) found.set(ref, id)
  }
  return found
}
