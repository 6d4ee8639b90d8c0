// Looks up references for a few seconds, so that pull requests never wait for a scan. If a registry doesn't respond,
// pauses its lookups, and finally skips the registry until the next pass.
import { z } from 'zod'
import pLimit from 'p-limit'
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import {
  updateImageScanFailureState,
  parseImageTagAndDigest,
  toImageScanResult,
  detectMovedTag,
  type ImageScanResult,
} from '../checks/images/missing-images.ts'
import type { ImageLookupResult } from '../checks/lookups.ts'
import type { PendingImageReference, RegistryHostState, ScanState, ImageScanPass } from './scan-state.ts'
import { readScanBatch, writeScanBatches } from './scan-state.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type { StatusPageStore, RecordedImageReference } from '../ports/status-page-store.ts'
import { defineStateNamespace, type StateStore, writeStateValue } from '../ports/state.ts'
import type { JobContext } from '../jobs/job-context.ts'

/** References per part: some seconds, at four at once and a tenth of a second each. */
export const imageReferencesPerScanBatch = 100
const maxConcurrentImageChecks = 4
/** No new requests after this time; running ones are canceled a little later. */
const scanSliceDurationMs = 8000
const scanSliceAbortTimeoutMs = 15_000
/** Unanswered requests before a reference is skipped for this pass. */
const maxAttemptsPerImageReference = 3
/** Consecutive failures before a registry is skipped for this pass. */
const maxConsecutiveRegistryFailures = 5
const maxRegistryHostPauseSeconds = 3600

/** References whose tag once matched their digest. A later mismatch means that the tag moved. */
const verifiedImageTagStateNamespace = defineStateNamespace('tag of digest', 1, z.literal(true))

export async function pruneVerifiedImageTags(
  store: StateStore,
  repository: RepositoryName,
  named: readonly string[],
): Promise<void> {
  await store.retainState(
    verifiedImageTagStateNamespace,
    repository,
    named.filter((reference) => parseImageTagAndDigest(reference) !== undefined),
  )
}

/** Returns the new state and the seconds until the next slice, or undefined at the pass's end. */
export async function runScanSlice(
  state: ScanState,
  pass: ImageScanPass,
  apart: number,
  ctx: JobContext<StateStore & StatusPageStore>,
): Promise<{ readonly state: ScanState; readonly again: number | undefined }> {
  const { clock, store } = ctx.app
  const slice = new ScanSlice(state, pass, apart, ctx)
  const calling = new AbortController()
  const ended = new AbortController()
  const alarm = clock
    .sleep(scanSliceAbortTimeoutMs, ended.signal)
    .then(() => (ended.signal.aborted ? undefined : calling.abort()))
  await pLimit(maxConcurrentImageChecks).map(
    await readScanBatch(store, ctx.forge.repository, pass, pass.next),
    (one) => slice.check(one, calling.signal),
  )
  ended.abort()
  await alarm
  await slice.writeRecords()
  const next: ScanState = { ...state, ...slice.getResults() }
  const { pass: moved } = next
  if (moved === undefined || moved.next >= moved.parts) return { state: next, again: undefined }
  return { state: next, again: slice.getSecondsUntilNext() }
}

/** The results of one slice so far. */
class ScanSlice {
  readonly #pass: ImageScanPass
  readonly #apart: number
  readonly #ctx: JobContext<StateStore & StatusPageStore>
  readonly #missingImages
  readonly #hosts
  readonly #started
  readonly #later: PendingImageReference[] = []
  readonly #seenImages: RecordedImageReference[] = []
  readonly #untouched: PendingImageReference[] = []
  #settled = 0
  #requestCount = 0

  constructor(
    state: ScanState,
    pass: ImageScanPass,
    apart: number,
    ctx: JobContext<StateStore & StatusPageStore>,
  ) {
    this.#pass = pass
    this.#apart = apart
    this.#ctx = ctx
    this.#missingImages = new Map(Object.entries(state.missingImages))
    this.#hosts = new Map(Object.entries(pass.hosts))
    this.#started = ctx.app.clock.now()
  }

  async check(one: PendingImageReference, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ctx.app
    const { reference } = one
    const { until, failures } = this.#getHost(reference)
    if (failures >= maxConsecutiveRegistryFailures) return
    if (until > clock.now()) return void this.#later.push(one)
    if (clock.now() - this.#started >= scanSliceDurationMs) return void this.#untouched.push(one)
    this.#requestCount += 1
    const { result, retryAfter, digest } = await checkImageReference(reference, signal, this.#ctx)
    if (result.kind !== 'unknown') this.#settled += 1
    if (digest !== undefined) this.#seenImages.push({ reference, digest, seenAt: clock.now() })
    if (retryAfter === undefined) this.#hosts.set(parseRegistryHost(reference), reachableRegistryHostState)
    else {
      this.#pauseHost(reference, retryAfter)
      if (one.tries + 1 < maxAttemptsPerImageReference) this.#later.push({ ...one, tries: one.tries + 1 })
    }
    const known = this.#missingImages.get(reference)
    const next = updateImageScanFailureState(known, result, clock.now(), this.#apart)
    if (next === undefined) this.#missingImages.delete(reference)
    else this.#missingImages.set(reference, next)
  }

  #getHost(reference: string): RegistryHostState {
    return this.#hosts.get(parseRegistryHost(reference)) ?? reachableRegistryHostState
  }

  #pauseHost(reference: string, retryAfter: number): void {
    const { clock } = this.#ctx.app
    const { until, failures } = this.#getHost(reference)
    // Concurrent failures count as one.
    if (until <= clock.now())
      this.#hosts.set(parseRegistryHost(reference), {
        until: clock.now() + Math.min(retryAfter, maxRegistryHostPauseSeconds) * 1000,
        failures: failures + 1,
      })
  }

  async writeRecords(): Promise<void> {
    const { app, forge } = this.#ctx
    if (this.#seenImages.length > 0) await app.store.recordImageSightings(forge.repository, this.#seenImages)
    const parts = new Map<number, readonly PendingImageReference[]>()
    if (this.#untouched.length > 0) parts.set(this.#pass.next, this.#untouched)
    if (this.#later.length > 0) parts.set(this.#pass.parts, this.#later)
    if (parts.size > 0) await writeScanBatches(app.store, forge.repository, this.#pass, parts)
  }

  getResults(): Pick<ScanState, 'missingImages' | 'pass'> {
    const pass = {
      ...this.#pass,
      parts: this.#pass.parts + (this.#later.length > 0 ? 1 : 0),
      next: this.#pass.next + (this.#untouched.length > 0 ? 0 : 1),
      settled: this.#pass.settled + this.#settled,
      hosts: Object.fromEntries(this.#hosts),
    }
    return { missingImages: Object.fromEntries(this.#missingImages), pass }
  }

  /** The pass pauses if everything it met must wait and no unvisited part remains. */
  getSecondsUntilNext(): number {
    const { next, parts } = this.#pass
    if (this.#requestCount > 0 || this.#later.length === 0 || next + 1 < parts) return scanSlicePauseSeconds
    const soonest = Math.min(
      ...this.#later.map(({ reference }) => this.#hosts.get(parseRegistryHost(reference))?.until ?? 0),
    )
    return Math.max(1, Math.ceil((soonest - this.#ctx.app.clock.now()) / 1000))
  }
}

const scanSlicePauseSeconds = 1
const reachableRegistryHostState: RegistryHostState = { until: 0, failures: 0 }

/** `retryAfter` in seconds: the registry did not answer. `digest`: the image exists. */
async function checkImageReference(
  reference: string,
  signal: AbortSignal,
  { app, forge }: JobContext<StateStore>,
): Promise<{ result: ImageScanResult; retryAfter?: number; digest?: string }> {
  const answer = await queryRegistry(reference)
  const result = toImageScanResult(answer)
  if (answer.kind === 'unknown') return { result, retryAfter: answer.retryAfter }
  const pinned = result.kind === 'well' ? parseImageTagAndDigest(reference) : undefined
  const found = answer.kind === 'ok' ? { digest: answer.digest } : {}
  if (pinned === undefined) return { result, ...found }
  const stoodForIt =
    (await app.store.readState(verifiedImageTagStateNamespace, forge.repository, reference)) === true
  const tagged = await queryRegistry(pinned.reference)
  if (tagged.kind === 'ok' && tagged.digest === pinned.digest)
    await writeStateValue(app.store, verifiedImageTagStateNamespace, forge.repository, reference, true)
  return { result: detectMovedTag(pinned, tagged, stoodForIt), ...found }

  async function queryRegistry(text: string): Promise<ImageLookupResult> {
    const imageAnswer = await app.registries.refreshImage(text, signal)
    app.metrics.scanned.inc({ answer: imageAnswer.kind })
    return imageAnswer
  }
}

const parseRegistryHost = (reference: string): string => parseImageReference(reference).reference?.host ?? ''
