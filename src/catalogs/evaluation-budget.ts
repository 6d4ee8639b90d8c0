// Limits for one evaluation of a pull request, so that one author cannot use up everyone's resources. Beyond a limit the
// final answer is "too large to check", with the numbers.
import { defaultMaxTreePaths } from '../adapters/git/mirror.ts'

export interface EvaluationBudget {
  /** Paths of a whole tree, and of a difference between two. */
  readonly paths: number
  /** Paths that the pull request changes. */
  readonly changedPaths: number
  /** Bytes of all changed files, both sides together, which are in memory at once. */
  readonly changedBytes: number
  /** Questions to GitHub about people (logins, memberships, roles). */
  readonly people: number
  /** Images that registries are asked about. */
  readonly images: number
  /** Comments, and separately reviews; each hundred is a request. */
  readonly comments: number
  /** Milliseconds of our own work, excluding waits for registries and GitHub. */
  readonly time: number
  /** Megabytes of heap. */
  readonly memory: number
}

export const defaultEvaluationBudget: EvaluationBudget = {
  paths: defaultMaxTreePaths,
  // Ten times a release of every package of the largest public repository.
  changedPaths: 100_000,
  // Twice both sides of the largest public catalog, fully rewritten.
  changedBytes: 512 * 1024 * 1024,
  // Real pull requests need dozens: the author, commenters and owners.
  people: 500,
  // Twice the images of a new copy of the largest public catalog.
  images: 50_000,
  // The longest public discussions have some hundred.
  comments: 5000,
  time: 60_000,
  memory: 4096,
}

/** The message is a sentence for people, without a full stop. */
export class ChangeTooLargeError extends Error {
  override readonly name = 'TooLarge'
}

export function createChangeTooLargeError(found: number, what: string, max: number): ChangeTooLargeError {
  const [has, may] = [found, max].map((number) => number.toLocaleString('en'))
  return new ChangeTooLargeError(`the change has ${has} ${what}; catalog-bot checks at most ${may}`)
}
