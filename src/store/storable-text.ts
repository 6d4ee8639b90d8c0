/** Text as Postgres takes it, also in JSON: without NUL and without half surrogates. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** A value as jsonb takes it. A NUL is replaced, not removed: what stands around it must not become another word. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? part.replaceAll('\0', '\uFFFD').toWellFormed() : part,
  )
