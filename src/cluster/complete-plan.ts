// What a planned trial needs besides before it can run: a name of its own, an end, and where its catalogs are.
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

/** Seconds beyond every deadline after which nobody can be at it any more. */
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

/** Nobody can guess it, and no two are alike. */
function newTrialId(): string {
  // The 36 letters do not divide 256: so few of them do no harm to a name.
  return [...randomBytes(8)].map((byte) => letters[byte % letters.length]).join('')
}
