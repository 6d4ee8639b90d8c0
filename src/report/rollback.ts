import { toCodeSpan } from './escape.ts'

export function renderRollbackResult({
  image,
  tags,
  digest,
  isDone,
}: {
  readonly image: string
  readonly tags: readonly string[]
  readonly digest: string
  readonly isDone: boolean
}): string {
  const where = tags.map((tag) => toCodeSpan(`${image}:${tag}`)).join(', ')
  return isDone
    ? `Rolled back ${where} to ${toCodeSpan(digest)}. The rollback remains in effect until the catalog changes on its branch. To select another image, comment ${toCodeSpan(`/rollback ${tags[0] ?? ''} DIGEST`)}.`
    : `Rollback failed: ${toCodeSpan(digest)} is no longer in the publish history of ${where}. No tags were changed. Choose a digest from the history page.`
}
