// Fits text to terminal lines without splitting words.

/** Returns the text, shortened to at most `maxLength` characters between two words. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const end = text.lastIndexOf(' ', maxLength - 1)
  return end < 0 ? text : `${text.slice(0, end).replace(/[,;:]$/, '')}…`
}

/** Splits text between words into lines of at most `width` characters. A longer word has its own line. */
export function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
