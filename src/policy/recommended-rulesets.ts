// The two recommended rulesets for a branch, in GitHub's import format. A: only the App can update the branch. B: the
// checks of catalog-bot are required, without bypass. There are two because a bypass applies to a whole ruleset.

export interface RecommendedRuleset {
  readonly name: string
  readonly target: 'branch'
  readonly enforcement: 'active'
  readonly conditions: {
    readonly ref_name: { readonly include: readonly string[]; readonly exclude: readonly string[] }
  }
  readonly bypass_actors: readonly {
    readonly actor_id: number
    readonly actor_type: 'Integration'
    readonly bypass_mode: 'always'
  }[]
  readonly rules: readonly {
    readonly type: string
    readonly parameters?: Readonly<Record<string, unknown>>
  }[]
}

export function buildRecommendedRulesets(
  branch: string,
  app: number,
  ownChecks: readonly string[],
): { readonly a: RecommendedRuleset; readonly b: RecommendedRuleset } {
  const about = {
    target: 'branch',
    enforcement: 'active',
    conditions: { ref_name: { include: [`refs/heads/${branch}`], exclude: [] } },
  } as const
  return {
    a: {
      name: `catalog-bot A: only the App can update ${branch}`,
      ...about,
      bypass_actors: [{ actor_id: app, actor_type: 'Integration', bypass_mode: 'always' }],
      rules: [{ type: 'update' }],
    },
    b: {
      name: `catalog-bot B: ${branch} requires passing checks`,
      ...about,
      bypass_actors: [],
      rules: [
        { type: 'deletion' },
        { type: 'non_fast_forward' },
        {
          type: 'required_status_checks',
          parameters: {
            // catalog-bot validates every merge against the tip, so branches need no manual update.
            strict_required_status_checks_policy: false,
            required_status_checks: ownChecks.map((context) => ({ context, integration_id: app })),
          },
        },
      ],
    },
  }
}
