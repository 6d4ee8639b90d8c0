// A check run as we report it, whatever it is about, and the names of those that every pull request gets.
import { checkIds, type CheckId } from '../findings/checks.ts'

/** Prefix of every check run's name. */
export const checkPrefix = 'catalog-bot / '

/** The names of the checks that every pull request gets. */
export const ownChecks: readonly string[] = namesOfChecks(checkIds)

export function namesOfChecks(ids: readonly CheckId[]): readonly string[] {
  return ids.map((id) => `${checkPrefix}${id}`)
}

export interface ReportedAnnotation {
  readonly path: string
  readonly startLine: number
  readonly endLine: number
  readonly level: 'failure' | 'warning' | 'notice'
  readonly title: string
  readonly message: string
}

export interface ReportedCheck {
  readonly name: string
  readonly status: 'queued' | 'in_progress' | 'completed'
  readonly conclusion?: 'success' | 'failure' | 'neutral' | 'action_required'
  readonly title: string
  readonly summary: string
  readonly annotations: readonly ReportedAnnotation[]
  /** Where all about it is told. Absent: the App's own page, as GitHub has it. */
  readonly detailsUrl?: string
}
