/** Removes NUL and lone surrogates, which Postgres rejects, also in JSON. */
export const toStorableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/**
 * Prepares a value for jsonb. Replaces NUL instead of removing it, so that the surrounding text cannot become another
 * word.
 */
export const toStorableJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? part.replaceAll('\0', '\uFFFD').toWellFormed() : part,
  )
