// The check run about preview images. It never fails because no merge depends on a preview.
import { code, plain } from './escape.ts'
import { checkPrefix, type ReportedCheck } from './report.ts'

export interface ToldPreview {
  readonly root: string
  readonly image: string
  readonly tag: string
  /** `until`: a day, 2026-11-30. */
  readonly state:
    | { readonly kind: 'published'; readonly digest: string; readonly until: string }
    | { readonly kind: 'failed'; readonly why: string; readonly again: boolean }
    | { readonly kind: 'removed' }
}

export function previewCheck(told: readonly ToldPreview[]): ReportedCheck {
  const failed = told.some(({ state }) => state.kind === 'failed')
  const gone = told.every(({ state }) => state.kind === 'removed')
  return {
    name: `${checkPrefix}preview`,
    status: 'completed',
    conclusion: 'neutral',
    title: failed
      ? 'A preview image could not be published'
      : gone
        ? 'The preview images are removed'
        : `${told.length} preview ${told.length === 1 ? 'image' : 'images'}`,
    summary: told.map(describe).join('\n\n').slice(0, 60_000),
    annotations: [],
  }
}

function describe({ root, image, tag, state }: ToldPreview): string {
  const heading = `**${code(root === '' ? '.' : root)}** → ${code(`${image}:${tag}`)}`
  switch (state.kind) {
    case 'published':
      return `${heading}\n\nThe catalog as it would be after the merge, for trying out: ${code(`${image}@${state.digest}`)}. It is removed when the pull request is closed, or on ${state.until}.`
    case 'failed':
      return `${heading}\n\nNot published: ${plain(state.why)}.${state.again ? ' The bot tries again.' : ''}`
    case 'removed':
      return `${heading}\n\nRemoved.`
  }
}
