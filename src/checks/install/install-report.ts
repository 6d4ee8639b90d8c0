import type { RenderedObject } from '@catalog-bot/bundle/plain/rendering'
import type { ProvisionerRequirement } from './provisioner-checklist.ts'
import type { InstallTarget } from './install-targets.ts'

export type InstallVerdict = 'yes' | 'no' | 'unknown'

export interface InstallNote {
  /**
   * `refused`: it does not install with these targets. `unknown`: the check is inconclusive. `warning`: it installs.
   */
  readonly kind: 'refused' | 'unknown' | 'warning'
  readonly says: string
  /** The installer's own message, if `says` summarizes it. */
  readonly detail?: string
  /** The fix on the command line. */
  readonly hint?: string
  readonly targets: readonly InstallTarget[]
  /** A finding already reports this. */
  readonly isShown?: true
}

export type InstallStepOutcome = 'passed' | 'warning' | 'failed' | 'unknown' | 'left out'

export interface InstallStep {
  readonly id:
    | 'catalog'
    | 'graph'
    | 'resolution'
    | 'head'
    | 'upgrades'
    | 'content'
    | 'unpacking'
    | 'validation'
    | 'rendering'
    | 'schemas'
    | 'crds'
    | 'running'
  readonly title: string
  readonly outcome: InstallStepOutcome
  readonly facts: readonly string[]
  readonly remarks: readonly InstallNote[]
}

export interface ChannelInstall {
  readonly channel: string
  readonly installs: InstallVerdict
  readonly bundle?: string
  readonly steps: readonly InstallStep[]
  readonly comesAlong: readonly {
    readonly name: string
    readonly package: string
    readonly channel: string
    readonly because: readonly string[]
  }[]
  readonly acceptance: readonly {
    readonly target: InstallTarget
    /** `other format`: the target does not support this kind of bundle. */
    readonly installs: InstallVerdict | 'other format'
    readonly because: readonly string[]
  }[]
  readonly wanted: readonly InstallTarget[]
  readonly provisioner: readonly ProvisionerRequirement[]
  /** Objects that OLM v1's renderer creates for the bundle. */
  readonly objects: readonly RenderedObject[]
}

export interface InstallReport {
  readonly package: string
  readonly installs: InstallVerdict
  readonly channels: readonly ChannelInstall[]
}

/** Returns the worst result. A failure outranks unknown. An empty list is unknown. */
export function findWorstInstallVerdict(all: readonly InstallVerdict[]): InstallVerdict {
  return all.includes('no') ? 'no' : all.includes('unknown') || all.length === 0 ? 'unknown' : 'yes'
}
