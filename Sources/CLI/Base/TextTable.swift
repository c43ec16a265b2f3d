/// Columns of text, each as wide as its widest cell. Pure; cells must be printable.
package struct TextTable: Sendable {
    private let titles: [String]
    private var rows: [[String]] = []

    package init(_ titles: [String]) { self.titles = titles }

    /// Adds a row; cells beyond the titles are left out.
    package mutating func add(_ cells: [String]) { rows.append(cells) }

    /// The lines, titles first; nothing at the end of a line.
    package func lines(_ paint: Paint) -> [String] {
        let all = [titles] + rows
        let widths = titles.indices.map { column in
            all.map { column < $0.count ? $0[column].columns : 0 }.max() ?? 0
        }
        return all.enumerated().map { number, cells in
            let line = cells.prefix(titles.count).enumerated().map { column, cell in
                let isLast = column == titles.count - 1
                let gap = isLast ? 0 : widths[column] - cell.columns + 2
                return cell + String(repeating: " ", count: max(gap, 0))
            }.joined()
            return number == 0 ? paint.bold(line) : line
        }
    }
}

extension String {
    /// Columns of a terminal: East Asian wide characters take two.
    ///
    /// Source: the blocks that Unicode's EastAsianWidth.txt marks W or F.
    package var columns: Int {
        reduce(0) { sum, character in
            guard let first = character.unicodeScalars.first else { return sum }
            switch first.value {
            case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
                0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF,
                0x20000...0x3FFFD:
                return sum + 2
            default: return sum + 1
            }
        }
    }
}
