// Chooses the smallest preferred set that meets all constraints, as OLM's resolver does. (OLM: resolver/solver,
// search.go.)
import { holds, negated, SatSolver, type Literal } from './sat-solver.ts'

export type Constraint = { readonly text: string } & (
  | { readonly kind: 'mandatory' | 'prohibited' }
  /** At least one of these, in order of preference. */
  | { readonly kind: 'dependency'; readonly ids: readonly string[] }
  | { readonly kind: 'conflict'; readonly id: string }
  | { readonly kind: 'at most one'; readonly ids: readonly string[] }
)

export interface Variable {
  readonly id: string
  readonly constraints: readonly Constraint[]
}

export interface Applied {
  readonly subject: string
  readonly constraint: Constraint
}

export type Choice =
  /** In the order of choice, mandatory ones first. */
  | { readonly kind: 'chosen'; readonly ids: readonly string[] }
  /** A minimal set of conflicting constraints. */
  | { readonly kind: 'not satisfiable'; readonly constraints: readonly Applied[] }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'gave up' }

/** Real catalogs need a handful of conflicts; the limit stops hostile ones. */
const mostConflicts = 20_000

export function chooseBundles(variables: readonly Variable[]): Choice {
  const numbers = new Map(variables.map(({ id }, index) => [id, index]))
  const missing = variables
    .flatMap(({ constraints }) => constraints.flatMap(namedIn))
    .filter((id) => !numbers.has(id))
  if (missing.length > 0) {
    const each = missing.map((id) => `variable ${JSON.stringify(id)} referenced but not provided`)
    return { kind: 'error', message: `${missing.length} errors encountered: ${each.join(', ')}` }
  }
  const formula = new Formula(variables, numbers)
  const solver = formula.solver()
  const quick = formula.follow((literal) => solver.assume(literal))
  if (quick) return { kind: 'chosen', ids: formula.idsOf(quick) }
  return chooseCarefully(formula)
}

/**
 * Checks before each step that a solution remains possible. OLM backtracks instead and does not repeat a choice that it
 * undid, so it sometimes picks a less preferred candidate. This function always returns the preferred one.
 */
function chooseCarefully(formula: Formula): Choice {
  const solver = formula.solver()
  const first = solver.solve(formula.anchors.map(holds))
  if (first.kind === 'gave up') return first
  if (first.kind === 'unsatisfiable') return explain(formula)
  let gaveUp = false
  const assumed: Literal[] = []
  const found = formula.follow((literal) => {
    const { kind } = solver.solve([...assumed, literal])
    gaveUp ||= kind === 'gave up'
    if (kind !== 'satisfiable') return false
    assumed.push(literal)
    return true
  })
  return found && !gaveUp ? { kind: 'chosen', ids: formula.idsOf(found) } : { kind: 'gave up' }
}

/** Returns the constraints that the solver blames, reduced to a minimal set. */
function explain(formula: Formula): Choice {
  const all = formula.applied
  const solver = formula.solver({ withSwitches: true })
  const blame = (indexes: readonly number[]): readonly number[] | undefined => {
    const answer = solver.solve(indexes.map((index) => holds(formula.switchOf(index))))
    return answer.kind === 'unsatisfiable'
      ? answer.failed.map((literal) => formula.indexOf(literal))
      : undefined
  }
  let needed = blame(all.map((_, index) => index))
  if (needed === undefined) return { kind: 'gave up' }
  for (const index of needed) {
    if (!needed.includes(index)) continue
    needed = blame(needed.filter((other) => other !== index)) ?? needed
  }
  const constraints = needed.map((index) => all[index] as Applied)
  return { kind: 'not satisfiable', constraints: inOrderOfChain(constraints) }
}

/** Orders constraints from the mandatory ones along the dependencies. */
function inOrderOfChain(constraints: readonly Applied[]): readonly Applied[] {
  const bySubject = Map.groupBy(constraints, ({ subject }) => subject)
  const open = constraints
    .filter(({ constraint }) => constraint.kind === 'mandatory')
    .map(({ subject }) => subject)
    .sort((a, b) => Number(hasDependency(bySubject.get(b))) - Number(hasDependency(bySubject.get(a))))
  const ordered = new Set<Applied>()
  const seen = new Set<string>()
  const take = (subject: string): void => {
    if (seen.has(subject)) return
    seen.add(subject)
    const its = bySubject.get(subject) ?? []
    for (const applied of its.toSorted((a, b) => rank(a) - rank(b))) {
      ordered.add(applied)
      if (applied.constraint.kind === 'dependency') open.push(...applied.constraint.ids)
    }
  }
  for (const subject of open) take(subject)
  return [...ordered, ...constraints.filter((applied) => !ordered.has(applied))]
}

function rank({ constraint }: Applied): number {
  return constraint.kind === 'mandatory' ? 0 : 1
}

function hasDependency(its: readonly Applied[] | undefined): boolean {
  return its?.some(({ constraint }) => constraint.kind === 'dependency') ?? false
}

function namedIn(constraint: Constraint): readonly string[] {
  if ('ids' in constraint) return constraint.ids
  return 'id' in constraint ? [constraint.id] : []
}

/** Maps variables and constraints to the solver's numbers. */
class Formula {
  readonly anchors: readonly number[]
  readonly applied: readonly Applied[]
  private readonly variables: readonly Variable[]
  private readonly numbers: ReadonlyMap<string, number>

  constructor(variables: readonly Variable[], numbers: ReadonlyMap<string, number>) {
    this.variables = variables
    this.numbers = numbers
    this.applied = variables.flatMap(({ id, constraints }) =>
      constraints.map((constraint) => ({ subject: id, constraint })),
    )
    this.anchors = variables.flatMap(({ constraints }, index) =>
      constraints.some(({ kind }) => kind === 'mandatory') ? [index] : [],
    )
  }

  /** With switches, each constraint applies only while its variable is assumed. */
  solver({ withSwitches = false } = {}): SatSolver {
    const count = this.variables.length + (withSwitches ? this.applied.length : 0)
    const solver = new SatSolver(count, mostConflicts)
    for (const [index, { subject, constraint }] of this.applied.entries()) {
      const off = withSwitches ? [negated(holds(this.switchOf(index)))] : []
      const own = holds(this.number(subject))
      switch (constraint.kind) {
        case 'mandatory':
          solver.addClause([...off, own])
          break
        case 'prohibited':
          solver.addClause([...off, negated(own)])
          break
        case 'dependency':
          solver.addClause([...off, negated(own), ...constraint.ids.map((id) => holds(this.number(id)))])
          break
        case 'conflict':
          solver.addClause([...off, negated(own), negated(holds(this.number(constraint.id)))])
          break
        case 'at most one':
          solver.addAtMostOne(
            constraint.ids.map((id) => this.number(id)),
            withSwitches ? holds(this.switchOf(index)) : undefined,
          )
      }
    }
    return solver
  }

  /**
   * Walks the choices in OLM's order: mandatory variables, then their dependencies, breadth first. Skips choices
   * already met. `accept` says whether a candidate is possible. Undefined if a choice has no candidate.
   */
  follow(accept: (literal: Literal) => boolean): ReadonlySet<number> | undefined {
    const chosen = new Set<number>()
    const choices: (readonly number[])[] = this.anchors.map((anchor) => [anchor])
    for (const candidates of choices) {
      if (candidates.some((candidate) => chosen.has(candidate))) continue
      const found = candidates.find((candidate) => accept(holds(candidate)))
      if (found === undefined) return undefined
      chosen.add(found)
      for (const constraint of this.variables[found]?.constraints ?? [])
        if (constraint.kind === 'dependency' && constraint.ids.length > 0)
          choices.push(constraint.ids.map((id) => this.number(id)))
    }
    return chosen
  }

  idsOf(numbers: ReadonlySet<number>): readonly string[] {
    return [...numbers].map((number) => (this.variables[number] as Variable).id)
  }

  switchOf(index: number): number {
    return this.variables.length + index
  }

  indexOf(literal: Literal): number {
    return (literal >> 1) - this.variables.length
  }

  private number(id: string): number {
    return this.numbers.get(id) as number
  }
}
