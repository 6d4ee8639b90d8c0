// The check run on a commit of the base branch that tells what became of its catalogs' rebuild.
import { code, plain } from './escape.ts'
import { checkPrefix, type ReportedCheck } from './report.ts'

export type RebuildState =
  | { readonly kind: 'announced' }
  /** A newer push came before it was dispatched: that one's rebuild holds this one's changes too. */
  | { readonly kind: 'superseded'; readonly by: string }
  | { readonly kind: 'running'; readonly url?: string }
  | { readonly kind: 'succeeded' | 'failed'; readonly url: string }
  /** Dispatched, but GitHub does not say what became of it. */
  | { readonly kind: 'no-outcome' }
  | { readonly kind: 'not-dispatched'; readonly why: string }

export function rebuildCheck(catalogs: readonly string[], state: RebuildState): ReportedCheck {
  const base = { name: `${checkPrefix}rebuild`, annotations: [] }
  const what = `Catalogs that changed: ${catalogs.map((root) => code(root === '' ? '.' : root)).join(', ')}.`
  const link =
    'url' in state && state.url !== undefined && /^https?:\/\/[^\s()<>]+$/.test(state.url)
      ? ` [Run](${state.url}).`
      : ''
  switch (state.kind) {
    case 'announced':
      return { ...base, status: 'queued', title: 'Rebuild requested', summary: what }
    case 'running':
      return { ...base, status: 'in_progress', title: 'Rebuilding', summary: `${what}${link}` }
    case 'superseded':
      return {
        ...base,
        status: 'completed',
        conclusion: 'neutral',
        title: 'Rebuilt with a newer commit',
        summary: `${what} They are rebuilt with ${code(state.by.slice(0, 12))}.`,
      }
    case 'succeeded':
      return {
        ...base,
        status: 'completed',
        conclusion: 'success',
        title: 'Rebuilt',
        summary: `${what}${link}`,
      }
    case 'failed':
      return {
        ...base,
        status: 'completed',
        conclusion: 'failure',
        title: 'The rebuild failed',
        summary: `${what}${link}`,
      }
    case 'no-outcome':
      return {
        ...base,
        status: 'completed',
        conclusion: 'neutral',
        title: 'Rebuild requested; its outcome is not known',
        summary: `${what} The run could not be found: the App needs the permission to read Actions, and the workflow must run on this commit.`,
      }
    case 'not-dispatched':
      return {
        ...base,
        status: 'completed',
        conclusion: 'failure',
        title: 'The rebuild could not be requested',
        summary: `${what} ${plain(state.why)}. A maintainer checks the rebuild section of the configuration and the App's permissions.`,
      }
  }
}
