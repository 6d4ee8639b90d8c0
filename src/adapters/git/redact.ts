// Removes secrets from text of git or a server before it enters an error.
import type { GitCredential } from './remote.ts'

/** Replaces the credentials in every form they travel in, and the user part of any address. */
export function redactCredentials(
  text: string,
  ...credentials: readonly (GitCredential | undefined)[]
): string {
  let clean = text
  for (const credential of credentials) {
    if (credential === undefined) continue
    const { username, password } = credential
    const forms = [
      password,
      encodeURIComponent(password),
      toBase64(`${username}:${password}`),
      toBase64(password),
    ]
    // Longest first: a shorter form may be part of a longer one.
    for (const form of forms.sort((a, b) => b.length - a.length))
      if (form.length > 0) clean = clean.replaceAll(form, '***')
  }
  return clean
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, '$1***@')
    .replace(/(authorization:)[^\r\n]*/gi, '$1 ***')
}

/** Text from a server as one harmless paragraph: no control or direction characters, at most `length` characters. */
export function toPlainTextParagraph(text: string, length = 500): string {
  const line = text
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}
