/** Text as Postgres takes it, also in JSON: without NUL and without half surrogates. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()
