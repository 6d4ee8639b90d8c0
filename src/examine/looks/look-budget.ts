// What one look at a pull request may cost. Whoever opens one chooses how large it is, and everybody else pays for it:
// so each measure has an end, and beyond it the answer is final: too large to check, with the numbers.
import { usualMostPaths } from '../../git/mirror.ts'

export interface LookBudget {
  /** Paths of a whole tree, and of a difference between two. */
  readonly paths: number
  /** Paths that the pull request itself changes. */
  readonly changedPaths: number
  /** Bytes of all changed files that are read, both sides together: they are in memory at once. */
  readonly changedBytes: number
  /** Questions to GitHub about people: a login, a membership, a role each. */
  readonly people: number
  /** Images that registries are asked about. */
  readonly images: number
  /** Comments, and reviews, that are read: each hundred of them is a request. */
  readonly comments: number
  /** Milliseconds of work of our own, without what registries and GitHub take to answer. */
  readonly time: number
  /** Megabytes of heap. */
  readonly memory: number
}

export const usualBudget: LookBudget = {
  paths: usualMostPaths,
  // A release of every package of the largest public repository in one pull request is a tenth of this.
  changedPaths: 100_000,
  // Both sides of the largest public catalog, rewritten as a whole, are half of this.
  changedBytes: 512 * 1024 * 1024,
  // The author, whoever commented, and the people whom an owner file adds: dozens, in the largest honest one.
  people: 500,
  // All images of a new copy of the largest public catalog are half of this.
  images: 50_000,
  // The longest public discussions of a pull request have some hundred.
  comments: 5000,
  time: 60_000,
  memory: 4096,
}

/** A pull request is larger than its budget. The message is a sentence for people, without a full stop. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

export function tooMany(found: number, what: string, most: number): TooLarge {
  const [has, may] = [found, most].map((number) => number.toLocaleString('en'))
  return new TooLarge(`it has ${has} ${what}; at most ${may} are checked`)
}
