// Chooses the smallest preferred set that meets all constraints, as OLM's resolver does (resolver/solver, search.go).
import { toPositiveLiteral, negateLiteral, SatSolver, type Literal } from './sat-solver.ts'

export type SolverConstraint = { readonly text: string } & (
  | { readonly kind: 'mandatory' | 'prohibited' }
  /** At least one of these, in order of preference. `requirement`: a description of what a bundle requires of them. */
  | { readonly kind: 'dependency'; readonly ids: readonly string[]; readonly requirement?: string }
  | { readonly kind: 'conflict'; readonly id: string }
  | { readonly kind: 'at most one'; readonly ids: readonly string[] }
)

export interface SolverVariable {
  readonly id: string
  readonly constraints: readonly SolverConstraint[]
}

export interface AppliedConstraint {
  readonly subject: string
  readonly constraint: SolverConstraint
}

export type SolverResult =
  /** In the order of choice, with mandatory variables first. */
  | { readonly kind: 'chosen'; readonly ids: readonly string[] }
  /** A minimal set of conflicting constraints. */
  | { readonly kind: 'not satisfiable'; readonly constraints: readonly AppliedConstraint[] }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'gave up' }

/** Real catalogs need only a few conflicts. The limit stops malicious catalogs. */
const maxSolverConflicts = 20_000

export function solveBundleSelection(variables: readonly SolverVariable[]): SolverResult {
  const numbers = new Map(variables.map(({ id }, index) => [id, index]))
  const missing = variables
    .flatMap(({ constraints }) => constraints.flatMap(listReferencedVariableIds))
    .filter((id) => !numbers.has(id))
  if (missing.length > 0) {
    const each = missing.map((id) => `variable ${JSON.stringify(id)} referenced but not provided`)
    return { kind: 'error', message: `${missing.length} errors encountered: ${each.join(', ')}` }
  }
  const formula = new SatFormula(variables, numbers)
  const solver = formula.solver()
  const quick = formula.follow((literal) => solver.assume(literal))
  if (quick) return { kind: 'chosen', ids: formula.idsOf(quick) }
  return choosePreferredBundles(formula)
}

/**
 * Checks before each step that a solution remains possible. OLM backtracks instead and does not repeat a choice that it
 * undid, so it sometimes picks a less preferred candidate. This function always returns the preferred one.
 */
function choosePreferredBundles(formula: SatFormula): SolverResult {
  const solver = formula.solver()
  const first = solver.solve(formula.anchors.map(toPositiveLiteral))
  if (first.kind === 'gave up') return first
  if (first.kind === 'unsatisfiable') return findMinimalConflict(formula)
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
function findMinimalConflict(formula: SatFormula): SolverResult {
  const all = formula.applied
  const solver = formula.solver({ withSwitches: true })
  const blame = (indexes: readonly number[]): readonly number[] | undefined => {
    const answer = solver.solve(indexes.map((index) => toPositiveLiteral(formula.switchOf(index))))
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
  const constraints = needed.map((index) => all[index] as AppliedConstraint)
  return { kind: 'not satisfiable', constraints: orderConstraintsByDependency(constraints) }
}

/** Orders constraints from the mandatory ones along the dependencies. */
function orderConstraintsByDependency(constraints: readonly AppliedConstraint[]) {
  const bySubject = Map.groupBy(constraints, ({ subject }) => subject)
  const open = constraints
    .filter(({ constraint }) => constraint.kind === 'mandatory')
    .map(({ subject }) => subject)
    .sort(
      (a, b) =>
        Number(hasDependencyConstraint(bySubject.get(b))) - Number(hasDependencyConstraint(bySubject.get(a))),
    )
  const ordered = new Set<AppliedConstraint>()
  const seen = new Set<string>()
  const visit = (subject: string): void => {
    if (seen.has(subject)) return
    seen.add(subject)
    const its = bySubject.get(subject) ?? []
    for (const applied of its.toSorted((a, b) => getConstraintRank(a) - getConstraintRank(b))) {
      ordered.add(applied)
      if (applied.constraint.kind === 'dependency') open.push(...applied.constraint.ids)
    }
  }
  for (const subject of open) visit(subject)
  return [...ordered, ...constraints.filter((applied) => !ordered.has(applied))]
}

function getConstraintRank({ constraint }: AppliedConstraint): number {
  return constraint.kind === 'mandatory' ? 0 : 1
}

function hasDependencyConstraint(its: readonly AppliedConstraint[] | undefined): boolean {
  return its?.some(({ constraint }) => constraint.kind === 'dependency') ?? false
}

function listReferencedVariableIds(constraint: SolverConstraint): readonly string[] {
  if ('ids' in constraint) return constraint.ids
  return 'id' in constraint ? [constraint.id] : []
}

/** Maps variables and constraints to the solver's numbers. */
class SatFormula {
  readonly anchors: readonly number[]
  readonly applied: readonly AppliedConstraint[]
  private readonly variables: readonly SolverVariable[]
  private readonly numbers: ReadonlyMap<string, number>

  constructor(variables: readonly SolverVariable[], numbers: ReadonlyMap<string, number>) {
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
    const solver = new SatSolver(count, maxSolverConflicts)
    for (const [index, { subject, constraint }] of this.applied.entries()) {
      const off = withSwitches ? [negateLiteral(toPositiveLiteral(this.switchOf(index)))] : []
      const own = toPositiveLiteral(this.number(subject))
      switch (constraint.kind) {
        case 'mandatory':
          solver.addClause([...off, own])
          break
        case 'prohibited':
          solver.addClause([...off, negateLiteral(own)])
          break
        case 'dependency':
          solver.addClause([
            ...off,
            negateLiteral(own),
            ...constraint.ids.map((id) => toPositiveLiteral(this.number(id))),
          ])
          break
        case 'conflict':
          solver.addClause([
            ...off,
            negateLiteral(own),
            negateLiteral(toPositiveLiteral(this.number(constraint.id))),
          ])
          break
        case 'at most one':
          solver.addAtMostOne(
            constraint.ids.map((id) => this.number(id)),
            withSwitches ? toPositiveLiteral(this.switchOf(index)) : undefined,
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
      const found = candidates.find((candidate) => accept(toPositiveLiteral(candidate)))
      if (found === undefined) return undefined
      chosen.add(found)
      for (const constraint of this.variables[found]?.constraints ?? [])
        if (constraint.kind === 'dependency' && constraint.ids.length > 0)
          choices.push(constraint.ids.map((id) => this.number(id)))
    }
    return chosen
  }

  idsOf(numbers: ReadonlySet<number>): readonly string[] {
    return [...numbers].map((number) => (this.variables[number] as SolverVariable).id)
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
