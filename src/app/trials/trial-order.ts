// What passes between the App and the process that holds the clusters' kubeconfigs: plain values. An order names bundles and
// where the catalogs are; it names no cluster, no namespace and no account of one, and no secret is part of an answer.
import type { PlannedTrial } from '../../checks/install/trial/plan-trials.ts'
import type { TrialReport } from '../../checks/install/trial/trial-report.ts'
import type { Asking } from '../publishing/push-targets.ts'

export type TrialOrder =
  /** What is needed before anything is tried. */
  | (Asking & { readonly kind: 'prepare' })
  | (Asking & {
      readonly kind: 'try'
      readonly trial: PlannedTrial
      /** By the ports at which the App serves them. Absent: nothing that needs a catalog is tried. */
      readonly catalogs?: { readonly head: number; readonly base?: number }
      /** For OLM v1. */
      readonly images?: TrialImages
      /** Trials of a process that is gone: they are taken away first. */
      readonly abandoned: readonly string[]
    })

/** Images of the changed catalog and of the one before, by their digests; or why there are none. */
export type TrialImages = { readonly head: string; readonly base?: string } | { readonly why: string }

export type TrialAnswer =
  | {
      readonly kind: 'prepared'
      readonly slot: string
      readonly servesCatalogs: boolean
      readonly ports?: readonly [head: number, base: number]
    }
  | { readonly kind: 'tried'; readonly report: TrialReport }
  | { readonly kind: 'not-tried'; readonly why: string }
  /** Not allowed: there is no cluster for this repository. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }

/** Said while a trial runs, and before it makes anything: which names its objects have, and what it waits for. */
export interface TrialNews {
  readonly kind: 'news'
  readonly id?: string
  readonly says: string
}
export type NewsAnswer = 'go' | 'stop'
