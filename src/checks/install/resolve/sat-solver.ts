// A small SAT solver with clauses, at-most-one groups, retractable assumptions, and conflict learning.

/** The variable's number times two, plus one if negated. */
export type Literal = number
type Clause = Literal[]

interface AtMostOneGroup {
  readonly members: readonly number[]
  /** The group applies only while this literal holds. */
  readonly when: Literal | undefined
}

export const toPositiveLiteral = (variable: number): Literal => variable * 2
export const negateLiteral = (literal: Literal): Literal => literal ^ 1
const getLiteralVariable = (literal: Literal): number => literal >> 1

export type SatSolverResult =
  | { readonly kind: 'satisfiable' }
  /** The conflicting assumptions. */
  | { readonly kind: 'unsatisfiable'; readonly failed: readonly Literal[] }
  | { readonly kind: 'gave up' }

export class SatSolver {
  /** By literal: 1 true, -1 false, 0 unknown. */
  private readonly values: number[] = []
  private readonly levels: number[] = []
  /** Why a variable has its value: a clause, an excluding literal, or undefined for a decision. */
  private readonly reasons: (Clause | Literal | undefined)[] = []
  private readonly watching: Clause[][] = []
  /** By literal: the groups of its variable, and the groups that apply only while it holds. */
  private readonly groups: AtMostOneGroup[][] = []
  private readonly conditional: AtMostOneGroup[][] = []
  private readonly trail: Literal[] = []
  private readonly limits: number[] = []
  private done = 0
  private firstOpen = 0
  private isSound = true
  private budget: number

  constructor(variables: number, budget: number) {
    this.budget = budget
    for (let variable = 0; variable < variables; variable++) {
      this.values.push(0, 0)
      this.levels.push(0)
      this.reasons.push(undefined)
      this.watching.push([], [])
      this.groups.push([])
      this.conditional.push([], [])
    }
  }

  /** At least one literal must hold. Call it before any assumption. */
  addClause(literals: readonly Literal[]): void {
    const clause = [...new Set(literals)].filter((literal) => this.value(literal) !== -1)
    if (clause.some((literal) => this.value(literal) === 1 || clause.includes(negateLiteral(literal)))) return
    const [only] = clause
    if (only === undefined) this.isSound = false
    else if (clause.length === 1) this.isSound = this.set(only, undefined) && this.isSound
    else this.watch(clause)
  }

  /** At most one variable holds, and a variable listed twice never does. With `when`, only while that holds. */
  addAtMostOne(variables: readonly number[], when?: Literal): void {
    const group: AtMostOneGroup = { members: [...new Set(variables)], when }
    const off = when === undefined ? [] : [negateLiteral(when)]
    if (group.members.length < variables.length)
      for (const [at, variable] of variables.entries())
        if (variables.indexOf(variable) !== at)
          this.addClause([...off, negateLiteral(toPositiveLiteral(variable))])
    for (const variable of group.members) this.groups[variable]?.push(group)
    if (when !== undefined) this.conditional[when]?.push(group)
  }

  /** Adds an assumption and propagates it. Returns false, and undoes it, on a conflict. */
  assume(literal: Literal): boolean {
    if (!this.isSound || this.value(literal) === -1) return false
    if (this.limits.length === 0 && this.propagate() !== undefined) return (this.isSound = false)
    if (this.value(literal) === -1) return false
    this.limits.push(this.trail.length)
    if (this.value(literal) === 0) this.set(literal, undefined)
    if (this.propagate() === undefined) return true
    this.backTo(this.limits.length - 1)
    return false
  }

  /** Whether all clauses and assumptions can hold together. Discards the assumptions made by `assume`. */
  solve(assumptions: readonly Literal[]): SatSolverResult {
    this.backTo(0)
    if (!this.isSound) return { kind: 'unsatisfiable', failed: [] }
    for (;;) {
      const conflict = this.propagate()
      if (conflict !== undefined) {
        if (this.limits.length === 0) {
          this.isSound = false
          return { kind: 'unsatisfiable', failed: [] }
        }
        if (this.budget-- <= 0) return { kind: 'gave up' }
        this.learn(conflict)
        continue
      }
      const assumption = assumptions[this.limits.length]
      if (assumption !== undefined && this.value(assumption) === -1)
        return { kind: 'unsatisfiable', failed: this.findFailedAssumptions(assumption) }
      const next = assumption ?? this.openLiteral()
      if (next === undefined) return { kind: 'satisfiable' }
      this.limits.push(this.trail.length)
      if (this.value(next) === 0) this.set(next, undefined)
    }
  }

  private value(literal: Literal): number {
    return this.values[literal] as number
  }

  private set(literal: Literal, reason: Clause | Literal | undefined): boolean {
    const known = this.value(literal)
    if (known !== 0) return known === 1
    this.values[literal] = 1
    this.values[negateLiteral(literal)] = -1
    this.levels[getLiteralVariable(literal)] = this.limits.length
    this.reasons[getLiteralVariable(literal)] = reason
    this.trail.push(literal)
    return true
  }

  private watch(clause: Clause): void {
    this.watching[clause[0] as Literal]?.push(clause)
    this.watching[clause[1] as Literal]?.push(clause)
  }

  /** Returns the violated clause, if there is one. */
  private propagate(): Clause | undefined {
    while (this.done < this.trail.length) {
      const literal = this.trail[this.done++] as Literal
      const conflict = this.exclude(literal) ?? this.followWatchers(negateLiteral(literal))
      if (conflict !== undefined) return conflict
    }
    return undefined
  }

  private exclude(literal: Literal): Clause | undefined {
    for (const group of this.conditional[literal] as AtMostOneGroup[])
      for (const member of group.members)
        if (this.value(toPositiveLiteral(member)) === 1) {
          const conflict = this.excludeOthers(group, member)
          if (conflict) return conflict
        }
    if ((literal & 1) === 1) return undefined
    for (const group of this.groups[getLiteralVariable(literal)] as AtMostOneGroup[]) {
      if (group.when !== undefined && this.value(group.when) !== 1) continue
      const conflict = this.excludeOthers(group, getLiteralVariable(literal))
      if (conflict) return conflict
    }
    return undefined
  }

  private excludeOthers({ members, when }: AtMostOneGroup, member: number): Clause | undefined {
    for (const other of members) {
      if (other === member) continue
      const not = negateLiteral(toPositiveLiteral(other))
      const clause =
        when === undefined ? undefined : [not, negateLiteral(toPositiveLiteral(member)), negateLiteral(when)]
      if (!this.set(not, clause ?? toPositiveLiteral(member)))
        return clause ?? [not, negateLiteral(toPositiveLiteral(member))]
    }
    return undefined
  }

  private followWatchers(lost: Literal): Clause | undefined {
    const clauses = this.watching[lost] as Clause[]
    let retainedCount = 0
    for (let at = 0; at < clauses.length; at++) {
      const clause = clauses[at] as Clause
      if (clause[0] === lost) [clause[0], clause[1]] = [clause[1] as Literal, lost]
      const other = clause[0] as Literal
      if (this.value(other) !== 1) {
        const found = clause.findIndex((literal, index) => index > 1 && this.value(literal) !== -1)
        if (found > 0) {
          clause[1] = clause[found] as Literal
          clause[found] = lost
          this.watching[clause[1]]?.push(clause)
          continue
        }
      }
      clauses[retainedCount++] = clause
      if (this.set(other, clause)) continue
      while (++at < clauses.length) clauses[retainedCount++] = clauses[at] as Clause
      clauses.length = retainedCount
      return clause
    }
    clauses.length = retainedCount
    return undefined
  }

  /** Learns a clause from a conflict and backtracks to where that clause forces a value. */
  private learn(conflict: Clause): void {
    const seen = new Set<number>()
    const learnt: Literal[] = []
    let open = 0
    let at = this.trail.length
    let literals: readonly Literal[] = conflict
    let last: Literal
    do {
      for (const literal of literals) {
        const variable = getLiteralVariable(literal)
        const level = this.levels[variable] as number
        if (seen.has(variable) || level === 0) continue
        seen.add(variable)
        if (level === this.limits.length) open++
        else learnt.push(literal)
      }
      do last = this.trail[--at] as Literal
      while (!seen.has(getLiteralVariable(last)))
      literals = this.causes(last)
    } while (--open > 0)
    learnt.sort((a, b) => this.levelOf(b) - this.levelOf(a))
    const [highest] = learnt
    this.backTo(highest === undefined ? 0 : this.levelOf(highest))
    const clause = [negateLiteral(last), ...learnt]
    if (clause.length > 1) this.watch(clause)
    this.set(negateLiteral(last), clause.length > 1 ? clause : undefined)
  }

  private levelOf(literal: Literal): number {
    return this.levels[getLiteralVariable(literal)] as number
  }

  /** The false literals that force this literal. */
  private causes(literal: Literal): readonly Literal[] {
    const reason = this.reasons[getLiteralVariable(literal)]
    if (reason === undefined) return []
    return typeof reason === 'number' ? [negateLiteral(reason)] : reason.filter((other) => other !== literal)
  }

  /** The assumptions that conflict with this assumption, including itself. */
  private findFailedAssumptions(assumption: Literal): readonly Literal[] {
    const failed = [assumption]
    const seen = new Set([getLiteralVariable(assumption)])
    for (const literal of this.trail.toReversed()) {
      if (!seen.has(getLiteralVariable(literal)) || this.levelOf(literal) === 0) continue
      if (this.reasons[getLiteralVariable(literal)] === undefined) failed.push(literal)
      for (const cause of this.causes(literal)) seen.add(getLiteralVariable(cause))
    }
    return failed
  }

  private backTo(level: number): void {
    const limit = this.limits[level]
    if (limit === undefined) return
    for (const literal of this.trail.splice(limit)) {
      this.values[literal] = 0
      this.values[negateLiteral(literal)] = 0
    }
    this.limits.length = level
    this.done = limit
    this.firstOpen = 0
  }

  /** Tries false first, because OLM wants the fewest bundles. */
  private openLiteral(): Literal | undefined {
    for (let variable = this.firstOpen; variable < this.levels.length; variable++)
      if (this.value(toPositiveLiteral(variable)) === 0) {
        this.firstOpen = variable
        return negateLiteral(toPositiveLiteral(variable))
      }
    return undefined
  }
}
