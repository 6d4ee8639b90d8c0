import type { PlainObject } from '../../bundle/plain/rendering.ts'
import type { ProvisionerPoint } from './provisioner-checklist.ts'
import type { Target } from './targets.ts'

export type Installs = 'yes' | 'no' | 'unknown'

export interface Remark {
  /** `refused`: it does not install with these targets. `unknown`: the check cannot tell. `warning`: it installs. */
  readonly kind: 'refused' | 'unknown' | 'warning'
  readonly says: string
  readonly targets: readonly Target[]
  /** A finding already reports this. */
  readonly isShown?: true
}

export type StepOutcome = 'passed' | 'warning' | 'failed' | 'unknown' | 'left out'

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
  readonly outcome: StepOutcome
  readonly facts: readonly string[]
  readonly remarks: readonly Remark[]
}

export interface ChannelInstall {
  readonly channel: string
  readonly installs: Installs
  readonly bundle?: string
  readonly steps: readonly InstallStep[]
  readonly comesAlong: readonly {
    readonly name: string
    readonly package: string
    readonly channel: string
    readonly because: readonly string[]
  }[]
  readonly acceptance: readonly {
    readonly target: Target
    /** `other format`: the target does not take this kind of bundle. */
    readonly installs: Installs | 'other format'
    readonly because: readonly string[]
  }[]
  readonly wanted: readonly Target[]
  readonly provisioner: readonly ProvisionerPoint[]
  /** Objects that OLM v1's renderer creates for the bundle. */
  readonly objects: readonly PlainObject[]
}

export interface InstallReport {
  readonly package: string
  readonly installs: Installs
  readonly channels: readonly ChannelInstall[]
}

/** Returns the worst result: a failure outranks unknown. An empty list is unknown. */
export function worstOf(all: readonly Installs[]): Installs {
  return all.includes('no') ? 'no' : all.includes('unknown') || all.length === 0 ? 'unknown' : 'yes'
}
