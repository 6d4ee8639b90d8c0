// Branded ids, so that one kind of id cannot be passed as another.

declare const brandSymbol: unique symbol
type Branded<T, Name extends string> = T & { readonly [brandSymbol]: Name }

/** The object id of a Git commit: 40 (or 64) lowercase hexadecimal digits. */
export type CommitSha = Branded<string, 'CommitSha'>
export type TreeSha = Branded<string, 'TreeSha'>
export type BlobSha = Branded<string, 'BlobSha'>
export type PullNumber = Branded<number, 'PullNumber'>
/** A numeric account id, because logins can be renamed and reused (docs/dev/threats.md#t25). */
export type UserId = Branded<number, 'UserId'>

const gitObjectIdPattern = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** Throws a TypeError if the text isn't an object id, because other text must never be an argument of git. */
export function toCommitSha(text: string): CommitSha {
  return assertGitObjectId(text) as CommitSha
}
export function toTreeSha(text: string): TreeSha {
  return assertGitObjectId(text) as TreeSha
}
export function toBlobSha(text: string): BlobSha {
  return assertGitObjectId(text) as BlobSha
}
/** The largest number that the store and GraphQL accept. */
export const maxPullNumber: number = 2 ** 31 - 1
export function toPullNumber(value: number): PullNumber {
  if (!Number.isSafeInteger(value) || value < 1 || value > maxPullNumber)
    throw new TypeError(`not a pull request number: ${String(value)}`)
  return value as PullNumber
}
export function toUserId(value: number): UserId {
  if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`not a user id: ${String(value)}`)
  return value as UserId
}

export function isGitObjectId(text: string): boolean {
  return gitObjectIdPattern.test(text)
}

function assertGitObjectId(text: string): string {
  if (!isGitObjectId(text)) throw new TypeError(`not a Git object ID: ${JSON.stringify(text)}`)
  return text
}
