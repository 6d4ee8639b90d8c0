import { checkIds, type CheckId } from '../findings/checks.ts'

export const checkPrefix = 'catalog-bot / '

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
  /** Absent: GitHub links the App's page. */
  readonly detailsUrl?: string
}
