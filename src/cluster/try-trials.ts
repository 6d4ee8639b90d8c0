// Runs the trials of a package one at a time, because CRDs are cluster-wide. Retries infrastructure failures twice.
import { usualDeadlines } from '../checks/install/trial/deadlines.ts'
import type { PlannedTrial } from '../checks/install/trial/plan-trials.ts'
import { isWorthRetrying } from '../checks/install/trial/trial-outcome.ts'
import type { TrialPlan } from '../checks/install/trial/trial-plan.ts'
import type { TrialReport } from '../checks/install/trial/trial-report.ts'
import { completePlan, type TrialPlace } from './complete-plan.ts'
import { runTrial, type RunOptions } from './run-trial.ts'

export interface TryOptions extends RunOptions {
  readonly place: TrialPlace
  readonly onTrial?: (planned: PlannedTrial, attempt: number) => void
  readonly tries?: number
  /** Called before an attempt creates anything, so that a later process can find its objects. */
  readonly onPlan?: (plan: TrialPlan) => Promise<void>
}

const usualTries = 3

export async function tryTrials(
  trials: readonly PlannedTrial[],
  options: TryOptions,
): Promise<readonly TrialReport[]> {
  const reports: TrialReport[] = []
  for (const planned of trials) {
    if (options.signal?.aborted === true) break
    reports.push(await tryOne(planned, options))
  }
  return reports
}

async function tryOne(planned: PlannedTrial, options: TryOptions): Promise<TrialReport> {
  const { clock, deadlines = usualDeadlines, tries = usualTries, place, onTrial, onPlan } = options
  for (let attempt = 1; ; attempt++) {
    onTrial?.(planned, attempt)
    const plan = completePlan(planned, place, deadlines, clock.now())
    await onPlan?.(plan)
    const report = await runTrial(plan, options)
    const isOver = attempt >= tries || !isWorthRetrying(report.outcome) || options.signal?.aborted === true
    // Leftovers would disturb the next attempt.
    if (isOver || report.leftovers.length > 0) return report
  }
}
