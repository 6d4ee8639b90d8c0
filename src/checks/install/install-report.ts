// What came of a simulated install: its steps, what comes along, and with what the package installs. Plain data.
import type { PlainObject } from '../../bundle/plain/rendering.ts'
import type { ProvisionerPoint } from './provisioner-checklist.ts'
import type { Target } from './targets.ts'

export type Installs = 'yes' | 'no' | 'unknown'

/** One thing that a step found. */
export interface Remark {
  /**
   * `refused`: it does not install with these targets. `unknown`: it could not be found out whether it does. `warning`:
   * it does, and something is not as it should be.
   */
  readonly kind: 'refused' | 'unknown' | 'warning'
  readonly says: string
  readonly targets: readonly Target[]
  /** A finding says the same by itself. */
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
  /** What was found out, where that is worth a line. */
  readonly facts: readonly string[]
  readonly remarks: readonly Remark[]
}

export interface ChannelInstall {
  readonly channel: string
  readonly installs: Installs
  /** The bundle that is installed; absent where none is. */
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
    /** `other format`: it takes another kind of bundle. */
    readonly installs: Installs | 'other format'
    readonly because: readonly string[]
  }[]
  /** It must install with these. */
  readonly wanted: readonly Target[]
  readonly provisioner: readonly ProvisionerPoint[]
  /** What would be created for the bundle itself, by OLM v1's renderer. */
  readonly objects: readonly PlainObject[]
}

export interface InstallReport {
  readonly package: string
  readonly installs: Installs
  readonly channels: readonly ChannelInstall[]
}

/** The worst of several: a certain failure counts more than an open question. Of none it is unknown. */
export function worstOf(all: readonly Installs[]): Installs {
  return all.includes('no') ? 'no' : all.includes('unknown') || all.length === 0 ? 'unknown' : 'yes'
}
