// GitHub's limits per minute and hour, beside the hourly one in each answer.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits and
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api

export interface GitHubRateLimits {
  readonly concurrent: number
  /** Points a minute: a read is 1, a write 5. */
  readonly restPoints: number
  readonly graphqlPoints: number
  /** Comments, issues, pull requests and reviews. */
  readonly contentPerMinute: number
  readonly contentPerHour: number
  /** Milliseconds between writes. */
  readonly writePause: number
}

/**
 * GitHub.com's. It allows 100 concurrent requests over all instances; ten is Octokit's throttling, and GitHub
 * recommends one.
 */
export const documentedGitHubRateLimits: GitHubRateLimits = {
  concurrent: 10,
  restPoints: 900,
  graphqlPoints: 2000,
  contentPerMinute: 80,
  contentPerHour: 500,
  writePause: 1000,
}

/** GitHub Enterprise Server has no such limits by default. */
export const noGitHubRateLimits: GitHubRateLimits = {
  concurrent: Infinity,
  restPoints: Infinity,
  graphqlPoints: Infinity,
  contentPerMinute: Infinity,
  contentPerHour: Infinity,
  writePause: 0,
}
