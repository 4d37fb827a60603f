// The three-way merge of an edit that was made offline with what others have written since. Pure functions: nothing here reads
// a store or a clock.

/** @typedef {Record<string, any>} Item An entity as the API answers it, or a JSON Merge Patch (RFC 7396) of one. */
/** @typedef {{patch: Item, base: Item}} Edit A patch, and what its user saw of the fields that it names. */
/** @typedef {{patch: Item, base: Item, refused: Item}} Merged What is left of an edit, and what is refused of it. */

/** The times of an item. Of an occurrence all are its own, or none. */
export const times = [
  "startUtc", "endUtc", "startDate", "endDate", "startTzid", "endTzid", "isAllDay", "dueUtc", "dueDate", "dueTzid",
];

/** Members that mean something only together are one field. */
const groups = [
  times,
  ["rrule", "exdate", "rdate", "rruleUntil"],
  ["triggerUtc", "tzid"],
];

/** Fields that merge by element. */
const sets = ["tags", "links"];

/** @param {any} value @returns {value is Item} */
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * text is the same for equal JSON values, whatever the order of their members; an absent value equals null.
 * @param {any} value @returns {string}
 */
export const text = (value) => JSON.stringify(value ?? null, (_, v) =>
  isObject(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v);

/**
 * apply returns the target with a JSON Merge Patch applied (RFC 7396, section 2). It changes neither.
 * @param {any} target @param {any} patch @returns {any}
 */
export function apply(target, patch) {
  if (!isObject(patch)) return patch;
  const out = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete out[name];
    else out[name] = apply(out[name], value);
  }
  return out;
}

/**
 * diff returns the patch that makes `to` of `from`, by top-level members.
 * @param {Item} from @param {Item} to @returns {Item}
 */
export function diff(from, to) {
  /** @type {Item} */
  const out = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (text(from[name]) !== text(to[name])) out[name] = to[name] ?? null;
  }
  return out;
}

/** @param {Item} patch @param {string[]} [at] @returns {{path: string[], value: any}[]} what a patch sets, leaf by leaf */
const leaves = (patch, at = []) => Object.entries(patch).flatMap(([name, value]) =>
  isObject(value) ? leaves(value, [...at, name]) : [{ path: [...at, name], value }]);

/** @param {any} item @param {string[]} path */
const read = (item, path) => path.reduce((value, name) => value?.[name], item);

/** @param {Item} item @param {string[]} path @param {any} value */
function write(item, path, value) {
  for (const name of path.slice(0, -1)) item = item[name] ??= {};
  item[/** @type {string} */ (path.at(-1))] = value;
}

/** @param {string[]} path @returns {string[][]} the paths of the field that a path belongs to */
const field = (path) => {
  const group = path.length === 1 && groups.find((names) => names.includes(path[0]));
  return group ? group.map((name) => [name]) : [path];
};

/** @param {Item} item @param {string[]} path */
const valueOf = (item, path) => text(field(path).map((member) => read(item, member)));

/**
 * seen returns of an item the fields that a patch names: the base of an edit.
 * @param {Item} item @param {Item} patch @returns {Item}
 */
export function seen(item, patch) {
  const out = {};
  for (const member of leaves(patch).flatMap(({ path }) => field(path))) {
    if (read(item, member) !== undefined) write(out, member, read(item, member));
  }
  return out;
}

/** @param {any} element */
const identity = (element) => element?.targetId ?? text(element);

/**
 * union brings into a set what an edit added to its base and removed from it.
 * @param {any[]} theirs @param {any[]} base @param {any[]} mine @returns {any[]}
 */
function union(theirs, base, mine) {
  const [before, after] = [base, mine].map((set) => new Set(set.map(text)));
  const added = mine.filter((element) => !before.has(text(element)));
  const names = new Set(added.map(identity));
  return [...theirs.filter((e) => !names.has(identity(e)) && (after.has(text(e)) || !before.has(text(e)))), ...added];
}

/**
 * merge holds the edits of one entity, in their order, against the entity as it is now. A field that only one side has changed
 * is kept; where both have, theirs stands and the edits of that field are refused. The first edit that names a field decides,
 * by its base: the edits behind it were made on what it left.
 * @param {Item} theirs @param {Edit[]} edits @returns {Merged[]}
 */
export function merge(theirs, edits) {
  /** @type {Map<string, boolean>} */
  const kept = new Map();
  /** @type {Item} */
  const now = { ...theirs };
  return edits.map(({ patch, base }, at) => {
    /** @type {Merged} */
    const out = { patch: {}, base: structuredClone(base), refused: {} };
    for (const { path, value } of leaves(patch)) {
      const name = text(field(path));
      if (path.length === 1 && sets.includes(path[0])) {
        const before = now[path[0]] ?? [];
        now[path[0]] = union(before, base[path[0]] ?? [], value ?? []);
        out.patch[path[0]] = now[path[0]];
        out.base[path[0]] = before;
        continue;
      }
      if (!kept.has(name)) {
        const own = edits.slice(at).filter((edit) => leaves(edit.patch).some((leaf) => text(field(leaf.path)) === name));
        const mine = own.map((edit) => valueOf(apply(edit.base, edit.patch), path));
        kept.set(name, [valueOf(base, path), ...mine].includes(valueOf(theirs, path)));
      }
      write(kept.get(name) ? out.patch : out.refused, path, value);
    }
    return out;
  });
}
