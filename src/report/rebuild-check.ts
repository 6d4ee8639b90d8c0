import { configPath } from '../config/config-path.ts'
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import { checkNamePrefix, type ReportedCheck } from './report.ts'

export type RebuildState =
  | { readonly kind: 'announced' }
  /** A newer push arrived before the dispatch, and its rebuild includes this one. */
  | { readonly kind: 'superseded'; readonly by: string }
  | { readonly kind: 'running'; readonly url?: string }
  | { readonly kind: 'succeeded' | 'failed'; readonly url?: string }
  /** A webhook accepted the request. No outcome follows. */
  | { readonly kind: 'received' }
  | { readonly kind: 'retrying'; readonly why: string }
  /** Dispatched, but GitHub does not report the outcome. */
  | { readonly kind: 'no-outcome' }
  | { readonly kind: 'not-dispatched'; readonly why: string }

export function renderRebuildCheck(catalogs: readonly string[], state: RebuildState): ReportedCheck {
  const base = { name: `${checkNamePrefix}rebuild`, annotations: [] }
  const catalogsLine = `Changed catalogs: ${catalogs.map((root) => toCodeSpan(root === '' ? '.' : root)).join(', ')}.`
  const link =
    'url' in state && state.url !== undefined && /^https?:\/\/[^\s()<>]+$/.test(state.url)
      ? ` [Run](${state.url}).`
      : ''
  switch (state.kind) {
    case 'announced':
      return { ...base, status: 'queued', title: 'Rebuild requested', summary: catalogsLine }
    case 'running':
      return { ...base, status: 'in_progress', title: 'Rebuilding', summary: `${catalogsLine}${link}` }
    case 'superseded':
      return {
        ...base,
        status: 'completed',
        conclusion: 'neutral',
        title: 'Included in the rebuild of a newer commit',
        summary: `${catalogsLine} The rebuild of ${toCodeSpan(state.by.slice(0, 12))} includes them.`,
      }
    case 'succeeded':
      return {
        ...base,
        status: 'completed',
        conclusion: 'success',
        title: 'Rebuilt',
        summary: `${catalogsLine}${link}`,
      }
    case 'failed':
      return {
        ...base,
        status: 'completed',
        conclusion: 'failure',
        title: 'The rebuild failed',
        summary: `${catalogsLine}${link}`,
      }
    case 'no-outcome':
      return {
        ...base,
        status: 'completed',
        conclusion: 'neutral',
        title: 'Rebuild requested; result unknown',
        summary: `${catalogsLine} GitHub does not show a workflow run for this commit. Check that the App has the "Actions: read" permission, and that the workflow runs on this commit.`,
      }
    case 'received':
      return {
        ...base,
        status: 'completed',
        conclusion: 'neutral',
        title: 'Rebuild requested; result unknown',
        summary: `${catalogsLine} The webhook accepted the request but does not report the result of the build.`,
      }
    case 'retrying':
      return {
        ...base,
        status: 'in_progress',
        title: 'The webhook does not respond; catalog-bot retries automatically',
        summary: `${catalogsLine} ${escapeMarkdown(state.why)}.`,
      }
    case 'not-dispatched':
      return {
        ...base,
        status: 'completed',
        conclusion: 'failure',
        title: 'catalog-bot could not request the rebuild',
        summary: `${catalogsLine} ${escapeMarkdown(state.why)}. Check ${toCodeSpan('rebuild')} in ${toCodeSpan(configPath)} and the App's permissions (Contents: write, and Actions: write for ${toCodeSpan('rebuild.workflow')}).`,
      }
  }
}
