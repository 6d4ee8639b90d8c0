// Resolves every reference of a catalog, with progress, a summary by registry, and resumption of an earlier run.
import pLimit from 'p-limit'
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { ImageLookupResult } from '../../checks/lookups.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AbortSignalLike, ImageRegistry } from '../../ports/registry.ts'

export interface ImageScanOptions {
  readonly clock: Clock
  /** Concurrent lookups over all registries; each registry also has its own window. Default 64. */
  readonly concurrency?: number
  /** Answers of an earlier run: definite ones are reused, the others resolved again. */
  readonly earlier?: ReadonlyMap<string, ImageLookupResult>
  /** Called for each answer as it arrives; record them to resume a killed run. */
  readonly onAnswer?: (reference: string, answer: ImageLookupResult) => void
  /** Called at most once a second, and once at the end. */
  readonly onProgress?: (progress: ImageScanProgress) => void
  readonly signal?: AbortSignalLike
}

export interface ImageScanProgress {
  readonly done: number
  readonly total: number
  /** Lookups per second since the start, without reused answers. */
  readonly rate: number
  /** Estimated seconds left; undefined until known. */
  readonly remaining: number | undefined
}

export interface ImageScanReport {
  readonly answers: ReadonlyMap<string, ImageLookupResult>
  /** Sorted by reference count, descending. References without a host are under ''. */
  readonly registries: readonly RegistryScanSummary[]
  readonly complete: boolean
}

export interface RegistryScanSummary {
  readonly host: string
  readonly total: number
  readonly byKind: Readonly<Partial<Record<ImageLookupResult['kind'], number>>>
}

/** Resolves each distinct reference once. Never rejects because of a registry's reply. */
export async function scanImages(
  registry: ImageRegistry,
  references: Iterable<string>,
  options: ImageScanOptions,
): Promise<ImageScanReport> {
  const { clock } = options
  const all = [...new Set(references)]
  const answers = new Map<string, ImageLookupResult>()
  const open: string[] = []
  for (const reference of all) {
    const earlier = options.earlier?.get(reference)
    if (earlier && isReusableImageLookupResult(earlier)) answers.set(reference, earlier)
    else open.push(reference)
  }
  const queue = interleaveImagesByRegistryHost(open)
  const started = clock.now()
  let reported = started
  let resolvedCount = 0
  const reportProgress = () => {
    const seconds = (clock.now() - started) / 1000
    const rate = seconds > 0 ? resolvedCount / seconds : 0
    const left = all.length - answers.size
    options.onProgress?.({
      done: answers.size,
      total: all.length,
      rate,
      remaining: left === 0 ? 0 : rate > 0 ? left / rate : undefined,
    })
    reported = clock.now()
  }
  await pLimit(options.concurrency ?? 64).map(queue, async (reference) => {
    if (options.signal?.aborted) return
    const answer = await registry.resolve(reference, options.signal)
    if (options.signal?.aborted) return
    resolvedCount += 1
    answers.set(reference, answer)
    options.onAnswer?.(reference, answer)
    if (clock.now() - reported >= 1000) reportProgress()
  })
  reportProgress()
  return { answers, registries: summarizeImagesByRegistry(answers), complete: answers.size === all.length }
}

/** Whether a later run can reuse the answer. */
export function isReusableImageLookupResult(answer: ImageLookupResult): boolean {
  return !['unknown', 'missing-or-private', 'blocked'].includes(answer.kind)
}

function summarizeImagesByRegistry(
  answers: ReadonlyMap<string, ImageLookupResult>,
): readonly RegistryScanSummary[] {
  const hosts = new Map<string, Partial<Record<ImageLookupResult['kind'], number>>>()
  for (const [reference, { kind }] of answers) {
    const host = getImageReferenceHost(reference)
    const counts = hosts.get(host) ?? {}
    hosts.set(host, { ...counts, [kind]: (counts[kind] ?? 0) + 1 })
  }
  return [...hosts]
    .map(([host, byKind]) => ({ host, total: Object.values(byKind).reduce((a, b) => a + b, 0), byKind }))
    .sort((a, b) => b.total - a.total || (a.host < b.host ? -1 : 1))
}

/** Alternates between hosts, so that a slow registry does not delay the others. */
export function interleaveImagesByRegistryHost(references: readonly string[]): readonly string[] {
  const queues = [...Map.groupBy(references, getImageReferenceHost).values()]
  const length = queues.reduce((max, queue) => Math.max(max, queue.length), 0)
  return Array.from({ length }, (_, at) => queues.flatMap((queue) => queue.slice(at, at + 1))).flat()
}

function getImageReferenceHost(reference: string): string {
  return parseImageReference(reference).reference?.host ?? ''
}
