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
    ? `Rolled back: ${where} is ${toCodeSpan(digest)} now. It stays so until the catalog changes on its branch; ${toCodeSpan(`/rollback ${tags[0] ?? ''} DIGEST`)} chooses another image.`
    : `Not rolled back: the bot has forgotten the image ${toCodeSpan(digest)} of ${where} meanwhile. Nothing was changed.`
}
