import { code } from './escape.ts'

export function rollbackDone({
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
  const where = tags.map((tag) => code(`${image}:${tag}`)).join(', ')
  return isDone
    ? `Rolled back: ${where} is ${code(digest)} now. It stays so until the catalog changes on its branch; ${code(`/rollback ${tags[0] ?? ''} DIGEST`)} chooses another image.`
    : `Not rolled back: the bot has forgotten the image ${code(digest)} of ${where} meanwhile. Nothing was changed.`
}
