import { randomBytes } from 'node:crypto'
import type { Deadlines } from '../checks/install/trial/deadlines.ts'
import type { PlannedTrial } from '../checks/install/trial/plan-trials.ts'
import {
  usualQuota,
  type CatalogAt,
  type TrialNetwork,
  type TrialPlan,
  type TrialQuota,
} from '../checks/install/trial/trial-plan.ts'

export interface TrialPlace {
  readonly catalog: CatalogAt
  readonly base?: CatalogAt | undefined
  readonly pullSecret?: string | undefined
  readonly installerRole?: string | undefined
  readonly quota?: TrialQuota | undefined
  readonly network?: TrialNetwork | undefined
}

/** Seconds after all deadlines, when no process can still run the trial. */
const margin = 600
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'

export function completePlan(
  planned: PlannedTrial,
  place: TrialPlace,
  deadlines: Deadlines,
  now: number,
): TrialPlan {
  const { isUpgrade, ...trial } = planned
  const { catalog, base, pullSecret, installerRole = 'cluster-admin', quota = usualQuota, network } = place
  const longest = deadlines.whole + deadlines.cleanUp + deadlines.namespace
  return {
    ...trial,
    id: newTrialId(),
    catalog,
    ...(isUpgrade && base !== undefined && { base }),
    ...(pullSecret !== undefined && { pullSecret }),
    ...(network && { network }),
    installerRole,
    quota,
    expires: Math.ceil((now + longest) / 1000) + margin,
  }
}

/** Must be unique and impossible to guess. */
function newTrialId(): string {
  // 36 does not divide 256; the small bias is harmless in a name.
  return [...randomBytes(8)].map((byte) => letters[byte % letters.length]).join('')
}
