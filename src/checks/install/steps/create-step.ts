// Creates a step whose outcome is its worst remark. Omits remarks that apply to no target.
import type { InstallStep, InstallNote, InstallStepOutcome } from '../install-report.ts'

export function createInstallStep(
  id: InstallStep['id'],
  title: string,
  facts: readonly string[],
  found: readonly InstallNote[],
): InstallStep {
  const remarks = found.filter(({ targets }) => targets.length > 0)
  const has = (kind: InstallNote['kind']) => remarks.some((remark) => remark.kind === kind)
  const outcome: InstallStepOutcome = has('refused')
    ? 'failed'
    : has('unknown')
      ? 'unknown'
      : has('warning')
        ? 'warning'
        : 'passed'
  return { id, title, outcome, facts, remarks }
}

/** A step that was not checked. It never counts as a pass. */
export function createSkippedInstallStep(
  id: InstallStep['id'],
  title: string,
  ...facts: readonly string[]
): InstallStep {
  return { id, title, outcome: 'left out', facts, remarks: [] }
}
