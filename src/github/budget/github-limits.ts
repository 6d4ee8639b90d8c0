// What GitHub lets one installation do within a minute and within an hour, beside the hourly limit that it tells with each
// answer. https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits and
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api

export interface GitHubLimits {
  /** Requests under way at once. */
  readonly concurrent: number
  /** Points a minute: a read is 1, a write 5. */
  readonly restPoints: number
  readonly graphqlPoints: number
  /** Comments, issues, pull requests and reviews. */
  readonly contentPerMinute: number
  readonly contentPerHour: number
  /** Milliseconds from one write to the next. */
  readonly writePause: number
}

/**
 * GitHub.com's. 100 requests may be under way over all instances of the bot; ten are what Octokit's own throttling has, too,
 * and GitHub's advice is to ask one by one.
 */
export const documentedLimits: GitHubLimits = {
  concurrent: 10,
  restPoints: 900,
  graphqlPoints: 2000,
  contentPerMinute: 80,
  contentPerHour: 500,
  writePause: 1000,
}

/** Of a server whose operator sets no such limits: GitHub Enterprise Server has none by default. */
export const noLimits: GitHubLimits = {
  concurrent: Infinity,
  restPoints: Infinity,
  graphqlPoints: Infinity,
  contentPerMinute: Infinity,
  contentPerHour: Infinity,
  writePause: 0,
}
