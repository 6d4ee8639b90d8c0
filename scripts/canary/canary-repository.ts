// A temporary part of a GitHub repository: branches, pull requests, and rulesets under the prefix of one run. Cleanup
// finds them by that prefix, so it also works after an interrupted run.
import { spawn } from 'node:child_process'

export interface RulesetRule {
  readonly type: string
  readonly parameters?: Readonly<Record<string, unknown>>
}

export interface CanaryRepositoryOptions {
  readonly apiUrl: string
  /** `owner/name`. */
  readonly repository: string
  readonly token: string
  /** The unique prefix of this run. The names of all its objects start with it. */
  readonly prefix: string
  /** An empty folder for Git. */
  readonly folder: string
  /** The URL that Git pushes to. */
  readonly cloneUrl: string
  /** How long GitHub may need until its rules see a posted result. */
  readonly settleMs: number
  readonly signal: AbortSignal
}

type JsonObject = Readonly<Record<string, unknown>>

export interface GitHubApiResponse {
  readonly status: number
  /** An object's fields, and the items of a list. */
  readonly data: JsonObject
  readonly items: readonly JsonObject[]
}

/** GitHub's answer to a push or a merge: `accepted`, or its message. */
export type CanaryProbeResult = string

export class CanaryRepository {
  readonly #options: CanaryRepositoryOptions
  /** The App posts check runs, but only an App can. With a personal access token, commit statuses are used instead. */
  #evidence: 'check runs' | 'commit statuses' | undefined
  /** The content of every file. */
  #blob = ''

  constructor(options: CanaryRepositoryOptions) {
    this.#options = options
  }

  get evidence(): string {
    return this.#evidence ?? 'nothing'
  }

  /** Sends a REST request, relative to the repository. Throws only if GitHub is unreachable or the run interrupted. */
  async call(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<GitHubApiResponse> {
    const { apiUrl, repository, token } = this.#options
    const response = await fetch(`${apiUrl}/repos/${repository}${path}`, {
      method,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'user-agent': 'catalog-bot-canary',
        'x-github-api-version': '2022-11-28',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ?? this.#options.signal,
    })
    const text = await response.text()
    const value = parseJsonOrUndefined(text)
    return {
      status: response.status,
      data: toJsonObjectOrEmpty(value),
      items: Array.isArray(value) ? value.map(toJsonObjectOrEmpty) : [],
    }
  }

  async #expect(method: string, path: string, body?: unknown): Promise<GitHubApiResponse['data']> {
    const { status, data } = await this.call(method, path, body)
    if (status >= 300)
      throw new Error(`GitHub returned HTTP ${status} for ${method} ${path}: ${getErrorMessage(data)}`)
    return data
  }

  async #git(args: readonly string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> {
    const { folder, token, signal } = this.#options
    signal.throwIfAborted()
    const auth = Buffer.from(`x-access-token:${token}`).toString('base64')
    const identity = { NAME: 'catalog-bot canary', EMAIL: 'canary@catalog-bot.invalid' }
    // Passed in the environment, because every process on the machine can read command-line arguments.
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'http.extraHeader',
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${auth}`,
      GIT_AUTHOR_NAME: identity.NAME,
      GIT_AUTHOR_EMAIL: identity.EMAIL,
      GIT_COMMITTER_NAME: identity.NAME,
      GIT_COMMITTER_EMAIL: identity.EMAIL,
    }
    const child = spawn('git', ['-C', folder, ...args], { env })
    const out = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => (out.stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (out.stderr += chunk.toString()))
    // A Git process that reads no input may exit before it receives any.
    child.stdin.on('error', () => undefined).end(input)
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve(code ?? 1))
    })
    return { code, ...out }
  }

  async #local(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.#git(args, input)
    if (code !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim()}`)
    return stdout.trim()
  }

  async prepare(): Promise<void> {
    await this.#local(['init', '--quiet', '--bare', '.'])
    this.#blob = await this.#local(['hash-object', '-w', '--stdin'], 'canary\n')
  }

  /** Creates a local commit of exactly these files. */
  async commit(files: readonly string[], parents: readonly string[]): Promise<string> {
    const entries = files.map((it) => `100644 blob ${this.#blob}\t${it}\n`)
    const tree = await this.#local(['mktree'], entries.join(''))
    const on = parents.flatMap((parent) => ['-p', parent])
    const message = `${this.#options.prefix}: ${files.join(' ')}`
    return await this.#local(['commit-tree', tree, ...on, '-m', message])
  }

  ref(name: string): string {
    return `refs/heads/${this.#options.prefix}/${name}`
  }

  /** Pushes commits to branches of the run, with compare-and-swap if an old commit is given. */
  async push(
    updates: readonly { name: string; to: string; from?: string; force?: true }[],
  ): Promise<CanaryProbeResult> {
    const leases = updates.flatMap(({ name, from }) =>
      from === undefined ? [] : [`--force-with-lease=${this.ref(name)}:${from}`],
    )
    const specs = updates.map(({ name, to, force }) => `${force ? '+' : ''}${to}:${this.ref(name)}`)
    const url = this.#options.cloneUrl
    const { code, stdout, stderr } = await this.#git(['push', '--porcelain', ...leases, url, ...specs])
    return code === 0 ? 'accepted' : parseGitPushErrors(stdout, stderr)
  }

  async mustPush(...updates: readonly { name: string; to: string }[]): Promise<void> {
    const result = await this.push(updates)
    if (result !== 'accepted') throw new Error(`GitHub rejected the branch ${updates[0]?.name}: ${result}`)
  }

  async openPull(head: string, base: string): Promise<number> {
    const { prefix } = this.#options
    const request = { title: `${prefix}: a test`, head: `${prefix}/${head}`, base: `${prefix}/${base}` }
    const { number } = await this.#expect('POST', '/pulls', {
      ...request,
      body: 'Created and closed by the canary.',
    })
    return number as number
  }

  async closePull(number: number): Promise<void> {
    await this.#expect('PATCH', `/pulls/${number}`, { state: 'closed' })
  }

  /** Whether GitHub reports a pull request as merged, which can take some seconds after a push. */
  async isMerged(number: number): Promise<boolean> {
    return await this.#until(async () => (await this.call('GET', `/pulls/${number}/merge`)).status === 204)
  }

  /** A ruleset for exactly one branch of the run. */
  async protect(name: string, rules: readonly RulesetRule[]): Promise<void> {
    await this.#expect('POST', '/rulesets', {
      name: `${this.#options.prefix} ${name}`,
      target: 'branch',
      enforcement: 'active',
      conditions: { ref_name: { include: [this.ref(name)], exclude: [] } },
      rules,
    })
  }

  /** Reports success of a required check on a commit. */
  async green(sha: string, context: string): Promise<void> {
    if (this.#evidence !== 'commit statuses') {
      const run = { name: context, head_sha: sha, status: 'completed', conclusion: 'success' }
      const { status, data } = await this.call('POST', '/check-runs', run)
      if (status === 201) {
        this.#evidence = 'check runs'
        return
      }
      if (status !== 403 && status !== 404)
        throw new Error(`GitHub returned HTTP ${status} when creating a check run: ${getErrorMessage(data)}`)
      this.#evidence = 'commit statuses'
    }
    await this.#expect('POST', `/statuses/${sha}`, { state: 'success', context })
  }

  async merge(number: number, sha: string, merge_method: 'merge' | 'squash'): Promise<CanaryProbeResult> {
    let result: CanaryProbeResult = ''
    await this.#until(async () => {
      const { status, data } = await this.call('PUT', `/pulls/${number}/merge`, { sha, merge_method })
      result = status === 200 ? 'accepted' : getErrorMessage(data)
      // GitHub has not computed the mergeability yet, or still sees the old branch.
      return !/^(?:Pull Request is not mergeable|Base branch was modified)/i.test(result)
    })
    return result
  }

  /** Moves a branch through REST. */
  async move(name: string, sha: string): Promise<CanaryProbeResult> {
    const { status, data } = await this.call('PATCH', `/git/${this.ref(name)}`, { sha, force: false })
    return status === 200 ? 'accepted' : getErrorMessage(data)
  }

  /** Retries a rejected request for as long as GitHub may need to see posted results. */
  async accepted(attempt: () => Promise<CanaryProbeResult>): Promise<CanaryProbeResult> {
    let result: CanaryProbeResult = ''
    await this.#until(async () => (result = await attempt()) === 'accepted')
    return result
  }

  async #until(holds: () => Promise<boolean>): Promise<boolean> {
    const end = Date.now() + this.#options.settleMs
    for (let pause = 100; ; pause *= 2) {
      if (await holds()) return true
      if (Date.now() + pause > end) return false
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }

  /** Deletes the objects of the run, and only those. Returns the objects that it could not delete. */
  async clean(): Promise<string[]> {
    const { prefix } = this.#options
    const leftovers: string[] = []
    const never = new AbortController().signal
    const call = (method: string, path: string, body?: unknown) => this.call(method, path, body, never)
    const drop = async (label: string, method: string, path: string, body?: unknown): Promise<void> => {
      const { status, data } = await call(method, path, body)
      // It is already deleted.
      if (status >= 300 && status !== 404 && !/Reference does not exist/.test(getErrorMessage(data)))
        leftovers.push(`${label}: ${getErrorMessage(data)}`)
    }
    // Rulesets first, because they can forbid the deletion of their branches.
    for (const { id, name } of await this.#all('/rulesets?includes_parents=false'))
      if (String(name).startsWith(`${prefix} `))
        await drop(`ruleset ${String(name)}`, 'DELETE', `/rulesets/${String(id)}`)
    for (const { number, head } of await this.#all('/pulls?state=open'))
      if (String(toJsonObjectOrEmpty(head)['ref']).startsWith(`${prefix}/`))
        await drop(`pull request #${String(number)}`, 'PATCH', `/pulls/${String(number)}`, {
          state: 'closed',
        })
    for (const { ref } of (await call('GET', `/git/matching-refs/heads/${prefix}/`)).items)
      if (String(ref).startsWith(`refs/heads/${prefix}/`))
        await drop(String(ref), 'DELETE', `/git/${String(ref)}`)
    return leftovers
  }

  async #all(path: string): Promise<JsonObject[]> {
    const found: JsonObject[] = []
    for (let page = 1; ; page++) {
      const address = `${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`
      const { items } = await this.call('GET', address, undefined, new AbortController().signal)
      found.push(...items)
      if (items.length < 100) return found
    }
  }
}

const toJsonObjectOrEmpty = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : {}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { message: text }
  }
}

/** GitHub's message on one line. */
function getErrorMessage(data: GitHubApiResponse['data']): string {
  const { message = '', errors = [] } = data as { message?: string; errors?: unknown[] }
  const more = errors.map((it) => (typeof it === 'string' ? it : JSON.stringify(it)))
  return [message, ...more]
    .join(' ')
    .replace(/^Repository rule violations found/, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The violations that GitHub lists, or Git's reason if there are none. */
function parseGitPushErrors(stdout: string, stderr: string): string {
  const remote = stderr.split('\n').flatMap((line) => /^remote: - (.*)$/.exec(line)?.[1]?.trim() ?? [])
  const own = stdout.split('\n').flatMap((line) => /^!.*\((.*)\)$/.exec(line)?.[1] ?? [])
  return [...new Set(remote.length > 0 ? remote : own)].join(' ') || stderr.trim()
}
