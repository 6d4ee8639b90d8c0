// A step of an install, and its outcome: that of the worst thing that it found. What concerns no target is left away.
import type { InstallStep, Remark, StepOutcome } from '../install-report.ts'

export function step(
  id: InstallStep['id'],
  title: string,
  facts: readonly string[],
  found: readonly Remark[],
): InstallStep {
  const remarks = found.filter(({ targets }) => targets.length > 0)
  const has = (kind: Remark['kind']) => remarks.some((remark) => remark.kind === kind)
  const outcome: StepOutcome = has('refused')
    ? 'failed'
    : has('unknown')
      ? 'unknown'
      : has('warning')
        ? 'warning'
        : 'passed'
  return { id, title, outcome, facts, remarks }
}

/** A step that had nothing to do, or nothing to do it with: never a pass. */
export function leftOut(id: InstallStep['id'], title: string, ...facts: readonly string[]): InstallStep {
  return { id, title, outcome: 'left out', facts, remarks: [] }
}
