// The check run for preview images. It never fails, because no merge depends on a preview.
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import { checkNamePrefix, type ReportedCheck } from './report.ts'

export interface PreviewImageView {
  readonly root: string
  readonly image: string
  readonly tag: string
  /** `until`: a date such as 2026-11-30. */
  readonly state:
    | { readonly kind: 'published'; readonly digest: string; readonly until: string }
    | { readonly kind: 'failed'; readonly why: string; readonly again: boolean }
    | { readonly kind: 'removed' }
}

export function renderPreviewCheck(previews: readonly PreviewImageView[]): ReportedCheck {
  const failed = previews.some(({ state }) => state.kind === 'failed')
  const areAllRemoved = previews.every(({ state }) => state.kind === 'removed')
  return {
    name: `${checkNamePrefix}preview`,
    status: 'completed',
    conclusion: 'neutral',
    title: failed
      ? 'catalog-bot could not publish a preview image'
      : areAllRemoved
        ? 'Preview images removed'
        : `${previews.length} preview ${previews.length === 1 ? 'image' : 'images'}`,
    summary: previews.map(describePreview).join('\n\n').slice(0, 60_000),
    annotations: [],
  }
}

function describePreview({ root, image, tag, state }: PreviewImageView): string {
  const heading = `**${toCodeSpan(root === '' ? '.' : root)}** → ${toCodeSpan(`${image}:${tag}`)}`
  switch (state.kind) {
    case 'published':
      return `${heading}\n\nTo test the catalog as it would be after the merge, use ${toCodeSpan(`${image}@${state.digest}`)}. catalog-bot removes this image when the pull request is closed, or on ${state.until} at the latest.`
    case 'failed':
      return `${heading}\n\nNot published: ${escapeMarkdown(state.why)}.${state.again ? ' catalog-bot retries automatically.' : ''}`
    case 'removed':
      return `${heading}\n\nRemoved.`
  }
}
