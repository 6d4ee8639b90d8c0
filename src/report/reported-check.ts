import { checkIds, type CheckId } from '@catalog-bot/findings/checks'

export const checkNamePrefix = 'catalog-bot / '

export const botCheckNames: readonly string[] = toPrefixedCheckNames(checkIds)

export function toPrefixedCheckNames(ids: readonly CheckId[]): readonly string[] {
  return ids.map((id) => `${checkNamePrefix}${id}`)
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
  /** If absent, GitHub links the App's page. */
  readonly detailsUrl?: string
}
